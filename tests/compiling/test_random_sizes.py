"""Random programs whose arrays are cut, joined and padded: what was recorded is right at other sizes, or refused.

Sizes are small, so that lengths made of sizes are often those of other axes, by chance.
"""

import random

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F

STEPS = {
    "exp": "({x} * 0.3).exp()",
    "tanh": "{x}.tanh()",
    "centred": "{x} - {x}.mean(0, keepdim=True)",
    "tail": "{x}[1:]",
    "head": "{x}[..., :-1]",
    "every second": "{x}[::2]",
    "shifted": "{x}[1:] * {x}[:-1]",
    "differences": "{x}.diff(dim=0)",
    "over mean square": "{x} / (1 + ({x} ** 2).mean(-1, keepdim=True))",
    "over deviation": "{x} / (0.5 + {x}.std(0, keepdim=True))",
    "over norm": "{x} / (0.1 + {x}.norm())",
    "times mean": "{x} * {x}.mean()",
    "softmax": "{x}.softmax(-1)",
    "padded": "F.pad({x}, (1, 2))",
    "joined": "sg.cat([{x}, {x} ** 2], 0)",
    "running": "{x}.cumsum(-1)",
    "rolled": "{x}.roll(1, 0) * {x}",
    "flipped": "{x}.flip(0) + {x}",
    "over rows": "{x} / {x}.shape[0]",
    "over rows but one": "{x} / ({x}.shape[0] - 1)",
    "times root": "{x} * {x}.shape[-1] ** 0.5",
    "over entries": "2 * {x} / {x}.numel()",
    "first half": "{x}.chunk(2, 0)[0]",
    "a half and one": "{x}[: {x}.shape[0] // 2 + 1]",
    "rolled by half": "{x}.roll({x}.shape[0] // 2, 0) * {x}",
    "ends": "{x}[[0, -1]]",
    "off the median": "{x} - {x}.median(-1, keepdim=True).values",
    "off the largest": "{x} - {x}.amax(-1, keepdim=True)",
    "in order": "{x}.sort(-1).values * {x}",
    "log of a mean": "{x}.logsumexp(-1, keepdim=True) - sg.log(sg.tensor({x}.shape[-1] * 1.0, dtype=sg.float64)) + {x}",
    "weighed": "{x} * sg.linspace(0, 1, {x}.shape[-1], dtype=sg.float64)",
    "normalised": "F.layer_norm({x}, {x}.shape[-1:])",
    "beside sums": "sg.cat([{x}, {x}.sum(0, keepdim=True)], 0)",
    "after zeros": "sg.cat([sg.zeros_like({x}[:1]), {x}], 0)",
}
"""What is made of one array ``{x}`` of any shape."""

OF_MATRICES = {
    "transposed": "{x}.T",
    "sum of rows": "{x}.sum(0)",
    "upper triangle": "{x}.triu(1) + {x}",
    "gram": "{x} @ {x}.T / {x}.shape[1]",
    "solved": "sg.linalg.solve({x} @ {x}.T + 2 * sg.eye({x}.shape[0], dtype=sg.float64), {x})",
    "attention": "F.scaled_dot_product_attention({x}[None], {x}[None], {x}[None])[0]",
}

ENDS = [
    "({x} ** 2).mean()",
    "{x}.exp().mean()",
    "{x}.var()",
    "{x}.logsumexp(0).sum()",
    "({x} ** 2).sum() / {x}.shape[0]",
    "F.mse_loss({x}, {x}.flip(0) * 0.5)",
]


def program(draw):
    """A function of X (n, m), W (m, k), b (k,) and v (n,), with its text."""
    lines, dims = [draw.choice(["x = X @ W + b", "x = X * v[:, None]", "x = X"])], 2
    for _ in range(draw.randint(2, 5)):
        steps = {**STEPS, **(OF_MATRICES if dims == 2 else {})}
        name = draw.choice(list(steps))
        dims -= name == "sum of rows"
        lines.append(f"x = {steps[name].format(x='x')}")
    rest = "0.1 * (W ** 2).sum() + 0.01 * (b.sum() ** 2 + (v ** 2).mean())"
    text = "\n    ".join(["def f(X, W, b, v):", *lines, f"return {draw.choice(ENDS).format(x='x')} + {rest}"])
    room = {"sg": sg, "F": F}
    exec(text, room)  # noqa: S102
    return room["f"], text


def arrays(n, m, k, seed):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, shape) for shape in ((n, m), (m, k), (k,), (n,))]


def derived(f, row, order, by):
    """The value, the gradient by one argument, or that of its square, as a graph."""
    X, W, b, v = (sg.tensor(a, requires_grad=True, name=name) for a, name in zip(row, "XWbv", strict=True))
    found, target = f(X, W, b, v), (X, W, b, v)[by]
    for _ in range(order):
        whole = found if found.ndim == 0 else (found**2).sum()
        found = sg.autograd.grad(whole, target, create_graph=True, materialize_grads=True)[0]
    return found


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(k, marks=pytest.mark.slow) for k in range(40, 600))])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:std")  # of parts with one entry
def test_recorded_programs_are_right_at_other_sizes_or_refused(seed):
    draw = random.Random(seed)
    f, text = program(draw)
    sizes = [draw.choice([3, 4, 5, 6]) for _ in range(3)]
    order, by = draw.choice([0, 1, 1, 2]), draw.choice([0, 0, 1, 3])
    made = sg.compile(derived(f, arrays(*sizes, seed), order, by), ["X", "W", "b", "v"])
    n, m, k = sizes
    for other in (sizes, (7, 9, 11), (n + 1, m, k), (n, m + 1, k), (5, 5, 5)):
        row = arrays(*other, seed + 1)
        try:
            found = made(*row)
        except ValueError:
            assert other is not sizes
            continue
        wanted = derived(f, row, order, by).detach().numpy()
        assert found.shape == wanted.shape, text
        assert np.allclose(found, wanted, rtol=1e-6, atol=1e-9, equal_nan=True), text


def _row(x):
    return (x**2).mT[1:].reshape(-1)[1]


BY_CHANCE = {
    "rows": (_row, True),
    "columns": (lambda x: (x**2)[:, 1:].reshape(-1)[1], True),
    "in the middle": (lambda x: ((x**2)[:, 1:, None] * x[:, None, :]).reshape(x.shape[0], -1), True),
    "slope of rows": (lambda x: sg.autograd.grad(_row(x), x, create_graph=True)[0], False),
    "slope of columns": (
        lambda x: sg.autograd.grad((x**2)[:, 1:].flatten().cumsum(0)[1], x, create_graph=True)[0],
        False,
    ),
}


@pytest.mark.parametrize("name", BY_CHANCE)
def test_parts_of_one_row_by_chance_are_reshaped_as_they_are_at_other_sizes(name):
    """Slopes were put into all of n - 1 rows where the recorded run had one."""
    function, open_ = BY_CHANCE[name]
    rng = np.random.default_rng(0)
    small, large = (sg.tensor(rng.normal(size=s), requires_grad=True, name="x") for s in ((5, 2), (3, 4)))
    program = sg.compile(function(small), ["x"])
    np.testing.assert_allclose(program(small.detach().numpy()), function(small).detach().numpy())
    if open_:
        np.testing.assert_allclose(program(large.detach().numpy()), function(large).detach().numpy())
    else:
        with pytest.raises(sg.errors.ShapeError, match="was compiled for size 2"):
            program(large.detach().numpy())


def test_conditions_on_the_length_of_a_constant_that_is_not_read_know_it():
    """The graph of the gradient by v holds where X has one column fewer than the constant has entries."""
    X, v = (sg.tensor(np.ones(shape), requires_grad=True, name=name) for shape, name in (((3, 4), "X"), (6, "v")))
    weighed = sg.cat([sg.zeros(1, dtype=sg.float64), X.sum(0)]) * sg.linspace(0, 1, 5, dtype=sg.float64)
    (slope,) = sg.autograd.grad(weighed[1:].var() + (v**2).sum(), v, create_graph=True)
    made = sg.compile(slope, ["X", "v"])
    assert made(np.ones((2, 4)), np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
