"""Taylor mode: coefficients of every kind of op against SymPy, against nested forward mode, and against JAX."""

import math

import mpmath
import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, ShapeError, UnsupportedDerivative
from symgrad.func import jet, nth_derivative, taylor

t = sp.symbols("t", real=True)
A = np.array([[1.3, 0.2, -0.4], [0.5, -1.1, 0.3], [0.1, 0.7, 0.9]])
B = np.array([[0.2, 1.0, 0.3], [-0.6, 0.4, 0.8], [0.9, -0.2, 0.5]])


def close(a, b, **tolerance):
    found = a.detach().numpy() if isinstance(a, sg.Tensor) else a
    np.testing.assert_allclose(found, b, **({"rtol": 1e-9, "atol": 1e-12} | tolerance))


def stack(*parts):
    return sg.stack(list(parts))


SCALARS = [
    (sg.exp, sp.exp),
    (sg.log, sp.log),
    (sg.tanh, sp.tanh),
    (sg.erf, sp.erf),
    (sg.atan, sp.atan),
    (sg.lgamma, sp.loggamma),
    (sg.special.i0, lambda x: sp.besseli(0, x)),
    (lambda x: 1 / (1 + x * x), lambda x: 1 / (1 + x**2)),
    (lambda x: (x + 2) / (x * x + 1) / x, lambda x: (x + 2) / (x**3 + x)),
    (lambda x: x**2.5, lambda x: x ** sp.Rational(5, 2)),
    (lambda x: x**x, lambda x: x**x),
    (lambda x: sg.sin(sg.exp(x) * x), lambda x: sp.sin(sp.exp(x) * x)),
    (lambda x: np.sin(x) * np.exp(x), lambda x: sp.sin(x) * sp.exp(x)),
    (lambda x: sg.where(x > 0, sg.sqrt(x), x), sp.sqrt),
    (lambda x: sg.maximum(x, x / 2) * x, lambda x: x**2),
    (lambda x: stack(x, sg.sin(x)) @ stack(x, sg.cos(x)), lambda x: x**2 + sp.sin(x) * sp.cos(x)),
    (lambda x: sg.einsum("i,i,i->", *[stack(x, x)] * 2, stack(x, sg.sin(x))), lambda x: x**3 + x**2 * sp.sin(x)),
    (lambda x: stack(x, x * x, x**3).norm(), lambda x: sp.sqrt(x**2 + x**4 + x**6)),
    (lambda x: sg.logsumexp(stack(x, x * x), 0), lambda x: sp.log(sp.exp(x) + sp.exp(x**2))),
]


@pytest.mark.parametrize("case", range(len(SCALARS)))
def test_functions_of_a_number(case):
    f, exact = SCALARS[case]
    with mpmath.workdps(40):
        wanted = mpmath.taylor(sp.lambdify(t, exact(t), "mpmath"), mpmath.mpf(7) / 10, 8)
    close([c.item() for c in taylor(f, 0.7, 1.0, 8)], np.array(wanted, float))


PATHS = {
    "solve": lambda M, t: sg.linalg.solve(M, sg.tensor(B)[:, 0] * (1 + t)),
    "cholesky": lambda M, t: sg.linalg.cholesky(M @ M.mT),
    "eigvalsh": lambda M, t: sg.linalg.eigvalsh(M + M.mT),
    "svdvals": lambda M, t: sg.linalg.svdvals(M),
    "qr": lambda M, t: sg.linalg.qr(M)[1],
    "expm": lambda M, t: sg.linalg.matrix_exp(M),
    "det": lambda M, t: sg.linalg.det(M),
    "inv": lambda M, t: sg.linalg.inv(M),
    "fft": lambda M, t: sg.fft.rfft(M[0] * t + M[1]).abs(),
    "sort": lambda M, t: M.sort(0)[0] ** 2,
    "cumprod": lambda M, t: M.cumprod(0),
    "prod": lambda M, t: M.prod(1),
    "std": lambda M, t: M.std(0),
    "amax": lambda M, t: M.amax(0) ** 2,
    "softmax": lambda M, t: sg.softmax(M, 0),
    "index": lambda M, t: (M * t)[[0, 0, 1]] ** 2,
    "atan2": lambda M, t: sg.atan2(M, 1 + t),
    "complex": lambda M, t: sg.exp(1j * M).real * (M + 1j).abs(),
    "layer norm": lambda M, t: sg.nn.functional.layer_norm(M, (3,)),
    "clamp": lambda M, t: M.clamp(-0.5, 0.5) * sg.exp(t),
}


@pytest.mark.parametrize("name", PATHS)
def test_functions_of_arrays_against_nested_forward_mode(name):
    def f(t):
        return PATHS[name](sg.tensor(A) + t * sg.tensor(B), t)

    found, nested = taylor(f, 0.0, 1.0, 3), f
    for k, c in enumerate(found):
        close(c, nested(sg.tensor(0.0, dtype=sg.float64)).numpy() / math.factorial(k), rtol=1e-8, atol=1e-10)
        assert not c.requires_grad
        nested = sg.func.jacfwd(nested)


@pytest.mark.slow
def test_jet_means_what_it_means_in_jax():
    experimental = pytest.importorskip("jax.experimental.jet")
    import jax

    def f(m):
        return lambda x, y: (m.sin(x * y) + m.exp(x) / y, m.tanh(x))

    primals = np.array([0.3, 0.5]), np.array([1.2, 0.7])
    series = [np.array([1.0, 2.0]), np.array([0.5, 0.1])], [np.array([0.1, 0.4]), np.array([0.0, 0.6])]
    with jax.enable_x64(True):
        wanted = experimental.jet(f(jax.numpy), primals, series)
    found = jet(f(sg), primals, series)
    for k in range(2):
        close(found[0][k], wanted[0][k])
        for mine, theirs in zip(found[1][k], wanted[1][k], strict=True):
            close(mine, theirs)


def test_a_long_program_to_a_high_order():
    """A hundred ops to order 10: nested forward mode would run a thousand programs."""
    runs = []

    def program(x):
        runs.append(1)
        for _ in range(12):
            x = sg.sin(x) * 0.9 + sg.exp(-x * x) / (1 + x * x)
        return x

    found = taylor(program, 0.3, 1.0, 10)
    assert len(runs) == 1
    z = 0.3 + 0.05 * np.exp(2j * np.pi * np.arange(64) / 64)  # Cauchy's formula on a circle
    with np.errstate(all="ignore"):
        values = z
        for _ in range(12):
            values = np.sin(values) * 0.9 + np.exp(-values * values) / (1 + values * values)
    exact = (np.fft.fft(values) / 64 / 0.05 ** np.arange(64)).real[:6]
    close([c.item() for c in found[:6]], exact, rtol=1e-6, atol=1e-9)
    close(nth_derivative(sg.sin, 40)(0.3), math.sin(0.3))


def test_inside_and_outside_of_other_transforms():
    x = sg.tensor(0.3, dtype=sg.float64, requires_grad=True, name="x")
    third = taylor(lambda x: sg.sin(x) * x, x, 1.0, 3)[3]
    (g,) = sg.autograd.grad(third, x)
    close(g, nth_derivative(lambda x: sg.sin(x) * x, 4)(0.3).item() / 6)
    close(sg.func.grad(nth_derivative(sg.sin, 3))(0.3), math.sin(0.3))
    close(sg.func.jvp(nth_derivative(sg.sin, 3), (0.3,), (2.0,))[1], 2 * math.sin(0.3))
    close(nth_derivative(nth_derivative(sg.sin, 2), 2)(0.3), math.sin(0.3))
    close(nth_derivative(lambda x: sg.func.jvp(sg.sin, (x,), (1.0,))[1], 2)(0.3), -math.cos(0.3))
    points = np.array([0.1, 0.2])
    close(sg.func.vmap(nth_derivative(sg.sin, 2))(points), -np.sin(points))
    second = sg.func.jacfwd(lambda x: taylor(sg.sin, x, np.ones(2), 2)[2])(points)
    close(second, -np.diag(np.cos(points)) / 2)
    close(sg.func.hessian(lambda x: taylor(lambda y: sg.sin(y).sum(), x, np.ones(2), 2)[2])(points), np.diag(np.sin(points)) / 2)  # fmt: skip  # noqa: E501
    assert (
        taylor(lambda x: sg.sin(x) * x, x, 1.0, 2)[2].latex() == r"\cos\left(x\right) - \frac{x \sin\left(x\right)}{2}"
    )


def test_results_have_the_structure_and_dtype_of_the_function():
    found = taylor(lambda x: {"a": x * x, "b": [x, sg.tensor(3.0)]}, np.float32(1.0), 1.0, 2)
    assert [c["a"].item() for c in found] == [1.0, 2.0, 1.0]
    assert [c["b"][1].item() for c in found] == [3.0, 0.0, 0.0]
    assert found[2]["a"].dtype == np.float32
    assert [c.item() for c in taylor(lambda x: x > 0, 1.0, 1.0, 1)] == [True, False]
    assert len(taylor(sg.sin, 1.0, 1.0, 0)) == 1
    close(nth_derivative(lambda x, n: x**n, 2)(3.0, 4), 108.0)
    out, terms = jet(lambda x: (x, x * x), (2.0,), ([1.0, 1.0],))
    assert [[c.item() for c in row] for row in terms] == [[1.0, 1.0], [4.0, 6.0]]
    close(out[1], 4.0)


class Square(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x


def _written(x):
    z = sg.zeros(2)
    z[0] = x
    return z


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jet(sg.sin, 0.0, [1.0]), ArgumentError, "are tuples"),
        (lambda: jet(sg.sin, (0.0,), ([1.0], [2.0])), ArgumentError, "1 primals and 2 series"),
        (lambda: jet(sg.sin, (0.0,), ([],)), ArgumentError, "at least the first one"),
        (lambda: jet(sg.sin, (np.ones(2),), ([1.0],)), ShapeError, r"shape \(\), its primal \(2,\)"),
        (lambda: jet(sg.sin, (np.array(1),), ([1.0],)), ArgumentError, "primal 0 has dtype int64"),
        (lambda: jet(sg.add, (1.0, 2.0), ([1.0], [1.0, 2.0])), ArgumentError, "equally long"),
        (lambda: jet(3.0, (1.0,), ([1.0],)), ArgumentError, "takes a function first"),
        (lambda: taylor(sg.sin, 1.0, 1.0, -1), ArgumentError, "not -1"),
        (lambda: nth_derivative(sg.sin, 1.5), ArgumentError, "whole number"),
        (lambda: nth_derivative(sg.sin, 1)(np.ones(2)), ShapeError, "functions of one number"),
        (lambda: taylor(Square.apply, 1.0, 1.0, 2), UnsupportedDerivative, "Square is a custom function"),
        (lambda: taylor(lambda x: sg.func.grad(sg.sin)(x), 1.0, 1.0, 2), ArgumentError, "there is no reverse mode"),
        (lambda: taylor(lambda x: math.sin(x), sg.tensor(1.0), 1.0, 2), AutogradError, r"float\(\) of a value"),
        (lambda: taylor(lambda x: sg.tensor(x.numpy()), 1.0, 1.0, 2), AutogradError, "lose the path"),
        (lambda: taylor(lambda x: np.array([x, x]), sg.tensor(1.0), 1.0, 2), AutogradError, "a NumPy array of a value"),
        (lambda: taylor(lambda x: x.add_(1), 1.0, 1.0, 2), AutogradError, "no changes in place"),
        (lambda: taylor(_written, sg.tensor(1.0), 1.0, 2), AutogradError, "would lose the path"),
        (lambda: taylor(lambda x: sg.zeros(()).add_(x), 1.0, 1.0, 2), AttributeError, "cannot be changed in place"),
    ],
)
def test_what_would_lose_the_path_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


REVERSE = {
    "grad": lambda w: sg.func.grad(lambda x: (w * x**3).sum())(np.ones(2)),
    "vjp": lambda w: sg.func.vjp(lambda x: w * x**3, sg.ones(2))[1](sg.ones(2))[0],
    "jacrev": lambda w: sg.func.jacrev(lambda x: w * x**3)(np.ones(2)),
    "hessian": lambda w: sg.func.hessian(lambda x: (w * x**3).sum())(np.ones(2)),
    "hessian_operator": lambda w: sg.func.hessian_operator(lambda x: (w * x**3).sum(), np.ones(2)) @ np.ones(2),
}


@pytest.mark.parametrize("name", REVERSE)
def test_reverse_mode_of_a_function_that_holds_a_path_is_refused(name):
    with pytest.raises(ArgumentError, match="Taylor path.*no reverse mode"):
        sg.func.taylor(REVERSE[name], 2.0, 1.0, 2)


def test_forward_mode_of_a_function_that_holds_a_path():
    x, v = sg.tensor([1.0, 2.0], dtype=sg.float64), sg.tensor([1.0, 0.5], dtype=sg.float64)
    want = (3 * x**2 * v).tolist()
    for product in (
        lambda w: sg.func.jvp(lambda x: w**2 * x**3, (x,), (v,))[1],
        lambda w: sg.func.linearize(lambda x: w**2 * x**3, x)[1](v),
    ):
        found = sg.func.taylor(product, 1.0, 1.0, 2)
        assert [c.tolist() for c in found] == [want, [2 * c for c in want], want]


# ---------------------------------------------------------------------------------------------- functions for arrays


def entries(x):
    out = np.zeros(3)
    out[:] = x**2
    out[0] *= math.exp(x[1])
    return out.sum()


def parts(x):
    out = np.zeros((2, 3))
    row = out[0]
    row[:] = x
    row[1] = x[2] * x[0]
    out[1] += np.sin(x)
    out.T[2] = x[:2]
    return np.sum(out**2)


def masked(x):
    y = x.copy()
    y[y > 1] = 0
    y[[0, 2]] = [x[1] * 2, 3.0]
    y -= x
    return float((y**3).sum())


@pytest.mark.parametrize("f", [entries, parts, masked])
def test_functions_written_for_arrays(f):
    x, v = np.array([0.5, 1.5, 2.0]), np.array([1.0, -0.5, 0.3])
    coefficients = taylor(f, x, v, 3)
    jvp = sg.func.jvp
    along = [lambda t: f(x + t * v)]
    for _ in range(3):
        along.append(lambda t, g=along[-1]: jvp(g, (t,), (np.ones(()),))[1])
    exact = [float(g(np.zeros(()))) / math.factorial(k) for k, g in enumerate(along)]
    np.testing.assert_allclose([float(c) for c in coefficients], exact, rtol=1e-12)


def test_a_number_made_on_the_way_is_refused():
    with pytest.raises(sg.errors.NotFollowed, match="the result depends on it"):
        taylor(lambda x: np.sum(x**2) * float(x[0]), np.ones(2), np.ones(2), 2)


def test_compiled_derivatives_have_no_products_with_zero():
    source = sg.compile(nth_derivative(sg.tanh, 4), np.float64(0.3)).source
    assert "0 *" not in source
    assert "* 0" not in source
