"""``nn.utils``: norms and clipping of gradients, parameters as one vector; torch gives the expected numbers."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")


def parameters(t):
    rng = np.random.default_rng(0)
    made = [t.tensor(rng.standard_normal(shape), dtype=t.float32, requires_grad=True) for shape in ((2, 3), (3,), ())]
    loss = 10 * ((made[0] * made[1]).sum() ** 2)
    loss.backward()  # the last has no gradient
    return made


CALLS = {
    "norm": lambda t, ps: t.nn.utils.clip_grad_norm_(ps, 1.0),
    "norm of a generator": lambda t, ps: t.nn.utils.clip_grad_norm_((p for p in ps), max_norm=0.5, norm_type=1),
    "largest": lambda t, ps: t.nn.utils.clip_grad_norm_(ps, 2.0, norm_type=float("inf")),
    "one": lambda t, ps: t.nn.utils.clip_grad_norm_(ps[0], 1e6),
    "none": lambda t, ps: t.nn.utils.clip_grad_norm_([ps[2]], 1.0),
    "total": lambda t, ps: t.nn.utils.get_total_norm([p.grad for p in ps[:2]]),
    "value": lambda t, ps: t.nn.utils.clip_grad_value_(ps, 0.25),
    "vector": lambda t, ps: t.nn.utils.parameters_to_vector(ps),
    "back": lambda t, ps: t.nn.utils.vector_to_parameters(t.nn.utils.parameters_to_vector(ps) * 2, ps),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers(name):
    rows = []
    for t in (sg, torch):
        ps = parameters(t)
        found = CALLS[name](t, ps)
        rows.append([None if x is None else x.detach().numpy() for x in (found, *ps, *(p.grad for p in ps))])
        assert all(p.is_leaf and p.requires_grad for p in ps)
    for ours, theirs in zip(*rows, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
            assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("t", [sg, torch], ids=lambda t: t.__name__)
def test_norms_that_are_no_numbers(t):
    w = t.tensor([1.0], requires_grad=True)
    (w * float("inf")).sum().backward()
    with pytest.raises(RuntimeError, match="The total norm of order 2.0 for gradients from `parameters` is non-finite"):
        t.nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)


def test_the_vector_is_differentiable():
    ps = parameters(sg)
    vector = sg.nn.utils.parameters_to_vector(ps)
    assert vector.grad_fn.name() == "CatBackward0"
