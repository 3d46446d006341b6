"""The same small programs on symgrad and on torch: texts and values must be equal."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee of the manners, is not installed")
pytestmark = pytest.mark.peer


def same(text: str) -> str:
    return text.replace("dtype=torch.", "dtype=")


# ------------------------------------------------------------------------------------------ texts of tensors

FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
DTYPES = [*FLOATS, "int8", "int16", "int32", "int64", "uint8", "bool"]
SHAPES = [(), (1,), (3,), (0,), (2, 0), (1, 1), (2, 3), (2, 1, 3), (40,), (30, 50), (3, 2, 4, 5), (1001,), (7, 200)]
SCALES = [1.0, 1e-3, 1e-6, 1e3, 1e5, 1e9]


def sample(dtype: str, shape: tuple[int, ...], scale: float, whole: bool, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * scale
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape) * scale
    if whole:
        values = np.round(values)
    with np.errstate(all="ignore"):
        if dtype == "bool":
            return np.asarray(values.real > 0)
        if dtype == "uint8":
            return np.abs(np.clip(values, -99, 99)).astype(dtype)
        return np.clip(values, -120, 120).astype(dtype) if dtype.startswith("int") else values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("whole", [False, True], ids=["fractions", "whole"])
def test_repr(dtype, scale, whole):
    for seed, shape in enumerate(SHAPES):
        array = sample(dtype, shape, scale, whole, seed)
        assert repr(symgrad.tensor(array)) == same(repr(torch.tensor(array))), shape


@pytest.mark.parametrize(
    "values",
    [
        [float("nan"), 1.0],
        [float("inf"), -1.5],
        [float("-inf"), float("nan")],
        [0.0, -0.0],
        [0.0, 1e-10],
        [1e8, 1.0],
        [1.0e8 + 1, 1.0],
        [1e-4, 1e-3],
        [9.99999e-5, 1e-3],
        [1000.0, 1.0],
        [1000.5, 1.0],
        [123456.789, 1.0],
        [1e38, 1e-38],
        [float("nan"), 1e9],
        [0.00005, float("inf")],
    ],
    ids=str,
)
def test_repr_of_special_values(values):
    for dtype in ("float32", "float64"):
        array = np.array(values, dtype)
        assert repr(symgrad.tensor(array)) == same(repr(torch.tensor(array)))
        if np.isfinite(array).all():
            pair = array.astype("complex128") + 1j * array[::-1]
            assert repr(symgrad.tensor(pair)) == same(repr(torch.tensor(pair)))


@pytest.mark.parametrize("value", [7.0, 0.1, 1e-9, float("nan"), 3, True, 1 + 2j, [1.5, 2.0]])
def test_formatted(value):
    """A number in a text stands there without brackets, whatever it depends on."""
    texts = []
    for t in (symgrad, torch):
        x = t.tensor(value)
        texts.append([f"{x}", f"{x!r}", str(x), format(x)])
        if not x.ndim and x.is_floating_point():
            y = x.requires_grad_() * 2
            texts[-1] += [f"{y}", f"{y:.2f}", f"{y:>12}", format(y)]
    assert texts[0] == texts[1]


def test_repr_with_a_long_suffix():
    for n in range(1, 12):
        array = np.linspace(0.5, 1.5, n)
        a, b = symgrad.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)
        assert repr(a) == same(repr(b))
        assert repr(a * 2) == same(repr(b * 2))
        assert repr(a.log_softmax(0)) == same(repr(b.log_softmax(0)))


@pytest.mark.parametrize("profile", ["short", "full", "default"])
def test_print_profiles(profile):
    from symgrad.tensor import display

    array = np.random.default_rng(0).standard_normal((30, 50)) * 10
    display.set_printoptions(profile=profile)
    torch.set_printoptions(profile=profile)
    try:
        assert repr(symgrad.tensor(array)) == same(repr(torch.tensor(array)))
    finally:
        display.set_printoptions(profile="default")
        torch.set_printoptions(profile="default")


# ------------------------------------------------------------------------------------------ names in the graph

NODES = {
    "add number": lambda t, x: x + 1,
    "mul number": lambda t, x: x * 2,
    "sub number": lambda t, x: x - 1,
    "number sub": lambda t, x: 1 - x,
    "div number": lambda t, x: x / 2,
    "pow number": lambda t, x: x**2,
    "number pow": lambda t, x: 2**x,
    "pow tensor": lambda t, x: x**x,
    "neg": lambda t, x: -x,
    "abs": lambda t, x: x.abs(),
    "exp": lambda t, x: x.exp(),
    "sum": lambda t, x: x.sum(),
    "sum axis": lambda t, x: x.sum(0),
    "mean": lambda t, x: x.mean(),
    "mean axis": lambda t, x: x.mean(0),
    "clone": lambda t, x: x.clone(),
    "select": lambda t, x: x[0],
    "slice": lambda t, x: x[1:],
    "index": lambda t, x: x[[0, 1]],
    "view": lambda t, x: x.view(4),
    "reshape": lambda t, x: x.reshape(4),
    "t": lambda t, x: x.t(),
    "permute": lambda t, x: x.permute(1, 0),
    "transpose": lambda t, x: x.transpose(0, 1),
    "unsqueeze": lambda t, x: x.unsqueeze(0),
    "squeeze": lambda t, x: x.squeeze(),
    "expand": lambda t, x: x.expand(3, 2, 2),
    "mm": lambda t, x: x @ x,
    "mv": lambda t, x: x @ t.ones(2, dtype=t.float64),
    "dot": lambda t, x: x[0] @ x[1],
    "cat": lambda t, x: t.cat([x, x]),
    "stack": lambda t, x: t.stack([x, x]),
    "where": lambda t, x: t.where(x > 1, x, x * 2),
    "maximum": lambda t, x: t.maximum(x, x * 2),
    "clamp": lambda t, x: x.clamp(0, 1),
    "relu": lambda t, x: x.relu(),
    "sigmoid": lambda t, x: x.sigmoid(),
    "tanh": lambda t, x: x.tanh(),
    "softmax": lambda t, x: x.softmax(0),
    "log_softmax": lambda t, x: x.log_softmax(0),
    "logsumexp": lambda t, x: x.logsumexp(0),
    "prod": lambda t, x: x.prod(),
    "var": lambda t, x: x.var(),
    "std": lambda t, x: x.std(),
    "max": lambda t, x: x.max(),
    "amax": lambda t, x: x.amax(0),
    "cumsum": lambda t, x: x.cumsum(0),
    "double": lambda t, x: x.float(),
    "square": lambda t, x: x.square(),
    "sqrt": lambda t, x: x.sqrt(),
    "atan2": lambda t, x: t.atan2(x, x),
    "tril": lambda t, x: x.tril(),
    "diag": lambda t, x: x.diagonal(),
    "trace": lambda t, x: x.trace(),
    "inverse": lambda t, x: t.linalg.inv(x),
    "det": lambda t, x: t.linalg.det(x),
    "norm": lambda t, x: x.norm(),
    "flip": lambda t, x: x.flip(0),
}


NAMES_APART = {"sum axis", "mean axis", "permute", "transpose", "clamp", "prod", "max"}
"""Functions that one op serves here and several in torch; their names are the matter of test_node_names."""


def shown(module, program):
    x = module.tensor([[1.5, 2.0], [3.0, 4.5]], dtype=module.float64, requires_grad=True)
    y = program(module, x)
    below = [
        (None if node is None else node.name().rsplit("::", 1)[-1], number) for node, number in y.grad_fn.next_functions
    ]
    weights = module.tensor(np.arange(1.0, 1 + y.numel()).reshape(tuple(y.shape)), dtype=y.dtype)
    first = module.autograd.grad((y * y * weights).sum(), x, create_graph=True)[0]
    second = module.autograd.grad(first.sum(), x, allow_unused=True, materialize_grads=True)[0]
    return y, below, first, second


@pytest.mark.parametrize("case", NODES)
def test_node_and_gradients(case):
    y, below, first, second = shown(symgrad, NODES[case])
    y2, below2, first2, second2 = shown(torch, NODES[case])
    for ours, theirs in ((y, y2), (first, first2), (second, second2)):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-12)
        assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    if case not in NAMES_APART:
        assert y.grad_fn.name() == y2.grad_fn.name()
        assert below == below2


# ------------------------------------------------------------------------------------------ words of errors

ERRORS = {
    "vector backward": lambda t: t.ones(2, requires_grad=True).mul(2).backward(),
    "untracked backward": lambda t: t.ones(()).backward(),
    "second time": lambda t: [(y := (t.ones(2, requires_grad=True) ** 2).sum()), y.backward(), y.backward()],
    "unused": lambda t: t.autograd.grad(t.ones((), requires_grad=True) * 1, t.ones(1, requires_grad=True)),
    "no inputs": lambda t: t.autograd.grad(t.ones((), requires_grad=True) * 1, []),
    "wrong gradient": lambda t: t.ones(2, requires_grad=True).mul(2).backward(t.ones(3)),
    "hook without grad": lambda t: t.ones(2).register_hook(print),
    "retain without grad": lambda t: t.ones(2).retain_grad(),
    "integer leaf": lambda t: t.ones(2, dtype=t.int64).requires_grad_(),
    "flag of a result": lambda t: setattr(t.ones(2, requires_grad=True) * 2, "requires_grad", False),
    "leaf in place": lambda t: t.ones(2, requires_grad=True).add_(1),
    "numpy": lambda t: t.ones(2, requires_grad=True).numpy(),
    "item": lambda t: t.ones(2).item(),
    "truth value": lambda t: bool(t.ones(2)),
    "assigned grad": lambda t: setattr(t.ones(2), "grad", t.ones(3)),
    "empty inputs": lambda t: (t.ones((), requires_grad=True) * 2).backward(inputs=[]),
    "broadcast": lambda t: t.ones(2) + t.ones(3),
}
"""Messages whose beginning is torch's, up to the first figure or name that is added or written differently."""


def raised(module, program):
    with pytest.raises(Exception) as caught:  # noqa: PT011  (the class is what is compared)
        program(module)
    return caught.value


@pytest.mark.parametrize("case", ERRORS)
def test_words(case):
    ours, theirs = raised(symgrad, ERRORS[case]), raised(torch, ERRORS[case])
    assert isinstance(ours, type(theirs))
    start = re.split(r"[\[(.]|\d", str(theirs))[0].strip()[:60]
    assert str(ours).startswith(start), (str(ours), str(theirs))
