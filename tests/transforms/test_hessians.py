"""Hessians of every function of one array, all rows at once and one after the other."""

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
import symgrad.special
from symgrad.func import grad, hessian, jacfwd, jacrev
from symgrad.op import FRONTS

X = np.array([[0.31, 0.64], [0.52, 0.45]])


def functions():
    """The public functions that take one square matrix, and have a derivative that is the same at every call."""
    for room in (F, sg.special, sg):
        for name in sorted(n for n in dir(room) if not n.startswith("_") and not n.endswith("_")):
            f = getattr(room, name)
            if not callable(f) or isinstance(f, type) or (room is sg and name not in FRONTS):
                continue
            try:
                y = f(sg.tensor(X, requires_grad=True))
                drawn = [f(sg.tensor(np.tile(X, (9, 9)))).tolist() for _ in range(2)]
            except Exception:  # noqa: BLE001, S112  (it wants other arguments)
                continue
            if isinstance(y, sg.Tensor) and y.requires_grad and y.shape == X.shape and y.dtype == np.float64:
                if drawn[0] == drawn[1]:
                    yield pytest.param(f, id=f"{room.__name__}.{name}")


@pytest.mark.parametrize("f", list(functions()))
def test_functions_that_meet_themselves(f):
    """(leaky_relu(x)²).sum() had no Hessian: a block of rows was added into a gradient that all rows share."""
    for whole in (lambda x: (f(x) ** 2).sum(), lambda x: sg.exp(f(x)).sum() * f(x * x).sum()):
        together = hessian(whole)(X).numpy()
        for other in (jacrev(grad(whole)), jacfwd(jacfwd(whole))):
            np.testing.assert_allclose(other(X).numpy(), together, rtol=1e-9, atol=1e-11)
