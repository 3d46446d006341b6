"""Sizes that functions of other modules, containers and tables lose: each in a file of its own, which is read."""

import numpy as np
import pytest

import symgrad as sg
from tests.compiling.recorded import in_a_file, right_or_refused

LOST = [
    "x.shape.numel()", "np.prod(x.shape)", "np.prod(x.shape[:1])", "np.size(x)", "np.size(x, 0)", "np.shape(x)[0]",
    "np.multiply(*x.shape)", "np.add(*x.shape)", "np.zeros(x.shape).size", "np.arange(x.shape[0])[-1]",
    "np.int64(x.shape[0])", "np.clip(x.shape[0], 1, 4)", "np.interp(x.shape[0], [0, 10], [0, 1])",
    "np.indices(x.shape).sum()", "np.random.default_rng(x.shape[0]).random()", "len(list(np.ndindex(*x.shape)))",
    "len(x.T)", "len(x[0])", "len(x.sum(1))", "len(sg.zeros(x.shape[0], 2))", "sum(1 for _ in x)",
    "sum(i for i, _ in enumerate(x))", "sum(r.shape[0] for r in x)", "[.5, 1.5, 2.5, 3.5, 4.5][x.shape[0] - 2]",
    "tuple(x.shape)[0]", "list(x.shape)[0]", "[s for s in x.shape][0]", "[s * 2 for s in x.shape][0]",
    "next(iter(x.shape))", "(*x.shape, 1)[0]", "dict(n=x.shape[0])['n']", "dict(zip('nm', x.shape))['n']",
    "(lambda n: 1.0 / n)(x.shape[0])", "(lambda n: n * 2)(x.shape[0])", "-x.shape[0]", "+x.shape[0]", "7 % x.shape[0]",
    "x.shape[0] % 2", "x.shape[0].real", "x.shape.__getitem__(0)", "getattr(x, 'shape')[0]",
    "operator.index(x.shape[0])",
    "operator.mul(2.0, x.shape[0])", "functools.reduce(lambda a, b: a * b, x.shape, 1.0)", "math.gcd(*x.shape)",
    "math.ceil(x.shape[0] / 2)", "sg.arange(x.shape[0])[-1].item()", "sg.ones(x.shape).sum().item()",
    "x.reshape(-1).shape[0]", "len(list(x))", "int(str(len(x)))", "len([0] * len(x))",
    "sg.numel(x)", "(x[:, :: x.shape[0] - 1] ** 2).sum()",
    "np.linspace(0, x.shape[0], x.shape[1])", "np.full(x.shape[1], x.shape[0])",
    "sg.kaiser_window(x.shape[1], beta=x.shape[0], dtype=sg.float64)", "sg.polygamma(x.shape[0], x + 1)",
    "sg.special.multigammaln(x + 9, x.shape[0])", "sg.special.chebyshev_polynomial_t(x, x.shape[0])",
    "sg.special.laguerre_polynomial_l(x, x.shape[0])", "sg.linalg.matrix_power(x @ x.T, x.shape[0]).sum()",
    "x.diff(n=x.shape[0] - 1, dim=1).sum()", "(x.rot90(x.shape[0])[0] ** 2).sum()",
    "sg.combinations(x[0], x.shape[0] - 1).sum()",
    "sg.nn.functional.interpolate(x[None], scale_factor=x.shape[0]).sum()",
    "sg.nn.functional.interpolate(x[None], size=x.shape[0] * 2).sum()",
    "sg.nn.functional.pad(x, (x.shape[0], 0)).mean()", "sg.tensor_split(x, x.shape[0] - 1, 1)[0].sum()",
]  # fmt: skip

FORMS = ["x * c", "x * (0.1 * c)", "x + 2 * c", "x / (1.5 + c)"]


@pytest.mark.parametrize("made", LOST)
def test_programs_are_right_at_other_sizes_or_refuse_them(made, tmp_path):
    """The number of the recorded run stood in the program at every size, silently."""
    right_or_refused(made, FORMS, tmp_path)


KEPT = [
    "x.shape[0]", "x.size(0) * 0.5", "x.numel() / 2", "x.shape[0] ** 0.5", "max(x.shape[0], 2)", "1 / x.shape[0]",
    "np.sqrt(x.shape[0])", "x.sum() / x.shape[0]", "sg.ones(x.shape).sum()", "0.3 * (x.sum() / x.numel())",
    "x.reshape(x.shape[0], -1).sum() * 0.7", "print(x.shape) or 0.3", "[x.shape[0], x.shape[1]][1]",
]  # fmt: skip


@pytest.mark.parametrize("made", KEPT)
def test_sizes_that_stay_sizes_leave_programs_open(made, tmp_path):
    rng = np.random.default_rng(0)
    f = in_a_file(made, "x * c", tmp_path / "m.py")
    program = sg.compile(f(sg.tensor(rng.random((3, 5)), requires_grad=True, name="x")), ["x"])
    for shape in ((3, 5), (4, 5), (4, 7)):
        values = rng.random(shape)
        assert np.allclose(program(values), f(sg.tensor(values)).numpy())
