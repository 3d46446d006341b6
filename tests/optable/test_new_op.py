"""An op is one entry: what an entry made here, and known nowhere else, has of itself."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import symgrad as sg
from symgrad.commands.card import card
from symgrad.formula.shortcuts import SHORT, as_run
from symgrad.formula.term import constant_value, full, symbol
from symgrad.op import TABLE, elementwise, lookup, multilinear, primitive
from symgrad.proving.laws import HELPERS
from symgrad.proving.prove import prove

absolute, exp = lookup("abs"), lookup("exp")
X, Y = np.array([0.5, -1.5, 2.0]), np.array([0.2, 0.4, -1.0])


def soft_sign(x):
    """x/(1 + |x|)."""
    size = 1 + np.abs(x)
    return x / size


def damped(x, y):
    """x e^(-y²)."""
    return x * np.exp(-y * y)


@pytest.fixture(scope="module")
def entries():
    """The two entries, which leave the table again."""
    yield (
        elementwise(
            "soft_sign",
            soft_sign,
            lambda out, x: (1 - absolute(out)) ** 2,
            dtypes="float",
            refuses="c",
            domain="real",
            define=lambda x: x / (1 + absolute(x)),
            called=r"\mathrm{Ss}",
            doc="x/(1 + |x|).",
        ),
        elementwise(
            "damped",
            damped,
            lambda out, x, y: exp(-y * y),
            lambda out, x, y: -2 * y * out,
            dtypes="float",
            refuses="c",
            domain=("real", "real"),
            define=lambda x, y: x * exp(-y * y),
            doc="x times e to the power of -y².",
        ),
    )
    for name in ("soft_sign", "damped"):
        del TABLE[name]


@pytest.fixture
def loss(entries):
    sign, damp = entries

    def loss(x, y):
        return (damp(sign(x), y) ** 2).sum()

    return loss


def written(x, y):
    """The same in ops that the table has."""
    return ((x / (1 + abs(x)) * sg.exp(-y * y)) ** 2).sum()


def test_every_law_holds(entries, monkeypatch):
    for kernel in (soft_sign, damped):  # one law is that they stand in symgrad.kernels
        monkeypatch.setitem(HELPERS, kernel.__name__, kernel)
    found = prove([op.name for op in entries])
    assert found.ok, str(found)


@pytest.mark.parametrize(
    "transform",
    [
        sg.func.grad,
        sg.func.hessian,
        lambda f: lambda x, y: sg.func.jvp(f, (x, y), (sg.tensor(Y), sg.tensor(X))),
        lambda f: lambda x, y: sg.func.vmap(f)(sg.stack([x, y]), sg.stack([y, x])),
        lambda f: lambda x, y: sg.func.taylor(lambda x: f(x, y), x, sg.tensor(Y), 4),
        lambda f: lambda x, y: sg.jit(sg.func.grad(f))(x, y),
        lambda f: lambda x, y: sg.compile(sg.func.grad(f), x, y)(x, y),
        lambda f: lambda x, y: sg.compile(sg.func.hessian(f), x, y)(x, y),
    ],
    ids=["grad", "hessian", "jvp", "vmap", "taylor", "jit", "compile", "compiled hessian"],
)
def test_values_are_those_of_the_definition(transform, loss):
    x, y = sg.tensor(X), sg.tensor(Y)
    found, wanted = transform(loss)(x, y), transform(written)(x, y)
    for a, b in zip(np.ravel(found), np.ravel(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [sg.float32, sg.float16, sg.bfloat16, sg.int64])
def test_dtypes(dtype, entries):
    sign, _ = entries
    found = sign(sg.tensor([1, -3], dtype=dtype))
    assert found.dtype == (sg.float32 if dtype == sg.int64 else dtype)
    assert found.tolist() == [0.5, -0.75]


def test_formulas(loss):
    x = sg.tensor(X, name="x", requires_grad=True)
    y = sg.tensor(Y, name="y", requires_grad=True)
    value = loss(x, y)
    value.backward()
    assert r"\mathrm{Ss}\left(x\right)" in x.grad.latex()
    assert sg.from_latex(r"\mathrm{Ss}\left(x\right)", "x=n")(x).tolist() == TABLE["soft_sign"](x).tolist()
    digits = x.grad.evalf(30)
    assert abs(float(digits[0]) - x.grad[0].item()) < 1e-15
    assert sg.latex("sum(soft_sign(x)**2)", wrt="x") == sg.latex(
        lambda x: (TABLE["soft_sign"](x) ** 2).sum(), x, wrt="x"
    )
    assert sg.check(loss, sg.func.grad(loss), X, Y).ok
    assert "soft_sign" in str(value.expr)
    assert "code" in card("soft_sign")


def test_entries_of_its_jacobian_are_known(entries):
    sign, _ = entries
    found = sg.func.jacobian(sign)(sg.tensor(X))
    assert np.count_nonzero(found.numpy()) == 3


def test_what_says_that_it_is_linear_is_zero_of_zeros():
    thrice = primitive("thrice", lambda x: 3 * x, (lambda g, out, likex: thrice(g),), linear=True, doc="3 x.")
    pairs = multilinear(
        "pairs",
        np.multiply.outer,
        einsum=lambda a, b: (((0,), (1,)), (0, 1)),
        infer=lambda a, b: (*a, *b),
        doc="x yᵀ.",
    )
    zeros, x = full(("n",), 0, np.dtype(float)), symbol("x", ("n",), np.dtype(float))
    try:
        assert [constant_value(t) for t in (thrice(zeros), pairs(zeros, x), pairs(x, zeros))] == [0, 0, 0]
        assert as_run(pairs, (zeros, x), {}).op is pairs  # which is nan where x is infinite
    finally:
        for name in ("thrice", "pairs"):
            del TABLE[name]
            SHORT.pop(name, None)


@pytest.mark.parametrize("end", [".py", ".json", ".c", "torch", "jax"])
def test_files(end, loss, tmp_path):
    target = {} if end.startswith(".") else {"target": end}
    if target and importlib.util.find_spec(end) is None:
        pytest.skip(f"{end} is not installed")
    path = tmp_path / f"gradient{end if not target else '.py'}"
    sg.compile(sg.func.grad(loss), X, Y).save(path, **target)  # files for libraries are run before they are written
    assert path.stat().st_size
