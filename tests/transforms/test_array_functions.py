"""Functions of NumPy and SciPy in programs for arrays: entries one by one, writing, polynomials, SciPy by its ops."""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad import func

X = np.array([0.6, 1.4, 2.7])
A = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [0.5, -0.3, 1.8]])


def differences(f, x, h=1e-6):
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    return np.reshape([(f(x + e) - f(x - e)) / (2 * h) for e in steps], x.shape)


def agrees(f, x, formula=True):
    """Values, both modes, programs at two inputs and a formula of one function."""
    value, gradient = func.value_and_grad(f)(x)
    want = differences(lambda x: float(f(x)), x)
    assert float(value) == pytest.approx(float(f(x)), rel=1e-10)
    assert np.allclose(gradient, want, atol=2e-6)
    assert np.allclose(func.jacfwd(f)(x), want, atol=2e-6)
    program = sg.compile(func.grad(f), x)
    other = x * 1.03
    assert np.allclose(program(other), differences(lambda x: float(f(x)), other), atol=5e-6)
    if formula:
        assert sg.latex(f, x)


def counted(x):
    return sum((place[0] + 1) * entry**2 for place, entry in np.ndenumerate(x))


def iterated(x):
    out = np.zeros(3)
    with np.nditer(x, flags=["multi_index"]) as row:
        for entry in row:
            out[row.multi_index] = entry**2 * (row.multi_index[0] + 1)
    moved = np.nditer(x, flags=["multi_index"])
    while not moved.finished:
        out[moved.multi_index] += moved[0]
        moved.iternext()
    with np.nditer(out, op_flags=["readwrite"]) as row:
        for entry in row:
            entry[...] = entry * 2
    return out @ x


def flat(x):
    out = np.zeros((3, 3))
    out.flat[:] = x
    out.flat[[1, 5]] = x[:2] ** 2
    for k, entry in enumerate(x.flat):
        out.flat[k + 3] += k * entry
    return (out @ x).sum() + np.sum(out.flat) * len(out.flat)


def written(x):
    out = np.zeros((3, 3))
    np.fill_diagonal(out, x**2)
    np.put(out, [1, 5], x)
    np.copyto(out[2], x * 3, where=x > 1)
    np.put_along_axis(out, np.array([[2], [0], [0]]), x[:, None], axis=1)
    np.place(out, out == 0, x[:2])
    np.putmask(out, out > 5, out**0.5 + x)
    return (out**2).sum()


def lists(x):
    total = sum(i * entry**2 for i, entry in enumerate(x.tolist()))
    return total + x[1].item() * x.item(2) + sum(row[0] * row[1] for row in np.outer(x, x).tolist())


def whole_numbers(x):
    """Their slope is 0, and they may be indices."""
    return x[int(x[1])] * x[math.floor(x[0])] ** 2 + round(x[2]) * x[0] + x[math.ceil(x[0])] + round(x[1] * x[0], 3)


def copied(x):
    y, z = copy.copy(x), copy.deepcopy(x)
    y[0] = z[1] ** 2
    z.fill(x[2])
    return f"{x[0]:.2f}{x}" and (y * x).sum() + (z**2).sum()


@np.vectorize
def bent(t, u):
    return t**2 if t > u else math.sin(t) * u


def polynomials(c):
    p, q = np.poly1d(c), np.polynomial.Polynomial(c)
    parts = np.polynomial.chebyshev.chebval(0.3, c) + np.polynomial.legendre.legval([0.2, 0.4], c).sum()
    return (
        p(0.5) * p.deriv()(0.2) + q(0.3) ** 2 + q.deriv()(0.1) + parts + np.polynomial.polynomial.polyval(c, [1, 2])[0]
    )


PROGRAMS = {
    "ndenumerate": counted,
    "nditer": iterated,
    "flat": flat,
    "writing": written,
    "lists": lists,
    "whole numbers": whole_numbers,
    "copies": copied,
    "vectorize": lambda x: bent(x, 1.2).sum() + np.vectorize(lambda t: (t**2, -t))(x)[0][2],
    "fromiter": lambda x: np.fromiter((t * t for t in x), float).prod() + np.fromiter(x, float, count=2).sum(),
    "polynomials": polynomials,
    "full": lambda x: np.full(3, x[0]) @ x + np.full((2, 3), x).sum(),
    "add at": lambda x: np.sum(_scattered(x) ** 2),
}


def _scattered(x):
    out = np.zeros(4)
    before = out * 2
    np.add.at(out, [0, 1, 1], x)
    np.subtract.at(out, [3, 0, 0], x**2)
    return out + before


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_numpy(name):
    agrees(PROGRAMS[name], X)


def test_writing_into_tensors():
    t = sg.tensor(A, requires_grad=True)
    out = t * 2
    np.fill_diagonal(out, t[0])
    np.put(out, [1, -1], t[1, :2])
    out.sum().backward()
    want = np.full((3, 3), 2.0)
    want[[0, 1, 2], [0, 1, 2]] = want[0, 1] = 0
    want[0, :2] += 1
    want[1, :2] += 1
    assert np.array_equal(t.grad, want)
    with pytest.raises(sg.errors.ArgumentError, match="at least 2-d"):
        np.fill_diagonal(t[0] * 1, 1.0)


def scipy_programs():
    import scipy.fft
    import scipy.integrate
    import scipy.linalg
    import scipy.optimize
    import scipy.signal
    import scipy.spatial
    import scipy.special

    sp, sl, si, ss, sd = scipy.special, scipy.linalg, scipy.integrate, scipy.signal, scipy.spatial.distance
    b = np.array([1.0, -2.0, 0.5])
    s = lambda a: a @ a.T + np.eye(3)  # noqa: E731
    return {
        "logsumexp": lambda a: (sp.logsumexp(a, axis=1) ** 2).sum() + sp.logsumexp(a) + sp.logsumexp(a, b=a**2),
        "logsumexp wide": lambda a: (
            sp.logsumexp(a[0], b=b[:, None] ** 2) + (sp.logsumexp(a, 1, a[:, None] ** 2) ** 2).sum()
        ),
        "logsumexp axes": lambda a: (sp.logsumexp(a, axis=0, b=a**2, keepdims=True) * a).sum(),
        "softmax": lambda a: (sp.softmax(a, axis=0) ** 2).sum() + sp.log_softmax(a)[0, 1] + sp.softmax(a)[1, 0],
        "others": lambda a: (
            sp.polygamma(1, a**2 + 1).sum() + sp.multigammaln(a[0, 0] + 3, 2) + sp.xlogy(a**2, 2.0).sum()
        ),
        "solve": lambda a: (
            sl.solve(a, b) @ b + sl.solve(s(a), a, assume_a="pos").sum() + sl.solve(a, b, transposed=True)[0]
        ),
        "solve assuming": lambda a: (
            sum(sl.solve(a + 3 * np.eye(3), b, assume_a=part) @ b for part in ("sym", "her", "pos", "general"))
            + sl.solve(a + 3 * np.eye(3), b, lower=True, assume_a="symmetric")[0]
            + sl.solve(a, b, assume_a="upper triangular")[1]
            + sl.solve(a, b, assume_a="lower triangular", transposed=True)[1]
            + sl.solve(a + 3 * np.eye(3), b, assume_a="tridiagonal")[0]
            + sl.solve(a, b, assume_a="diagonal")[2]
        ),
        "solve_triangular": lambda a: (
            sl.solve_triangular(a, b, lower=True)[1] + sl.solve_triangular(a, a**2, trans="T", unit_diagonal=True).sum()
        ),
        "cholesky": lambda a: sl.cholesky(s(a), lower=True)[2].sum() * sl.cholesky(s(a))[0, 1],
        "half": lambda a: sl.cholesky(a + 3 * np.eye(3))[1].sum() + sl.cholesky(a + 3 * np.eye(3), lower=True)[2].sum(),
        "cho_solve": lambda a: (
            sl.cho_solve(sl.cho_factor(s(a)), b) @ b + sl.cho_solve(sl.cho_factor(s(a), True), a)[0, 1]
        ),
        "inv, det": lambda a: (sl.inv(a) ** 2).sum() + sl.det(a) + sl.norm(a) + sl.pinv(a)[0, 1],
        "expm": lambda a: sl.expm(a)[0, 1] + sl.sqrtm(s(a))[0, 2] + sl.logm(s(a))[1, 1],
        "eigh, svd": lambda a: sl.eigh(s(a))[0][1] + sl.eigvalsh(s(a))[0] + sl.svdvals(a)[0] + sl.svd(a)[1][2],
        "qr, lu": lambda a: (
            sl.qr(a)[1][0, 1] + sl.qr(a, mode="economic")[0][0, 1] + sl.lu(a)[2][1, 2] + sl.qr(a, mode="r")[0][2, 2]
        ),
        "built": lambda a: (
            (sl.toeplitz(a[0], a[1]) @ sl.circulant(a[2]) @ a[0]).sum() + sl.block_diag(a, a)[4].sum() * a[0, 0]
        ),
        "rosen": lambda a: scipy.optimize.rosen(a[0]) + scipy.optimize.rosen(a).sum(),
        "fft": lambda a: (
            (np.abs(scipy.fft.rfft(a[0])) ** 2).sum() + (np.abs(scipy.fft.fft(a, axis=0, norm="ortho")) ** 4).sum()
        ),
        "fft2": lambda a: (np.abs(scipy.fft.fft2(a)) ** 4).sum() + scipy.fft.irfft(scipy.fft.rfft(a[1]) ** 2, n=3)[0],
        "convolve": lambda a: (
            (ss.convolve(a[0], a[1, :2], "same") ** 2).sum() + ss.convolve2d(a, a[:2, :2], "valid")[0, 1] ** 2
        ),
        "correlate": lambda a: (
            (ss.correlate(a, a[:2, :2], "same") ** 2).sum() + (ss.fftconvolve(a, a[1:], "full") ** 2).sum()
        ),
        "cdist": lambda a: (
            (sd.cdist(a, a[:2] + 0.3) ** 3).sum()
            + sd.cdist(a, 2 * a, "sqeuclidean").sum()
            + sd.cdist(a, a + 1, "cityblock")[0, 1]
        ),
        "pdist": lambda a: (
            (sd.squareform(sd.pdist(a)) @ b).sum() + sd.squareform(s(a) - np.diag(np.diag(s(a))), checks=False) @ b
        ),
        "distances": lambda a: (
            sd.cosine(a[0], a[1]) + sd.euclidean(a[0], a[2]) + sd.correlation(a[0], a[1]) + sd.minkowski(a[0], a[1], 3)
        ),
        "trapezoid": lambda a: (
            si.trapezoid(a[0] ** 2, dx=0.1)
            + si.trapezoid(a[0], a[1] ** 2)
            + si.cumulative_trapezoid(a[0], initial=0) @ b
        ),
        "simpson": lambda a: (
            si.simpson(a.ravel() ** 2, dx=0.1)
            + si.simpson(a.ravel()[:8] ** 3, x=np.arange(8.0) ** 1.5)
            + si.simpson(a, axis=0) @ b
            + si.simpson(a[0, :2])
        ),
    }


SCIPY = (
    "logsumexp", "logsumexp wide", "logsumexp axes", "softmax", "others", "solve", "solve assuming", "solve_triangular",
    "cholesky", "half", "cho_solve",
    "inv, det", "expm", "eigh, svd", "qr, lu", "built", "rosen", "fft", "fft2", "convolve", "correlate", "cdist",
    "pdist", "distances", "trapezoid", "simpson",
)  # fmt: skip


@pytest.mark.parametrize("name", SCIPY)
def test_functions_of_scipy(name):
    pytest.importorskip("scipy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        agrees(scipy_programs()[name], A, formula=name != "expm")


def test_all_programs_with_functions_of_scipy_are_tested():
    pytest.importorskip("scipy")
    assert set(SCIPY) == set(scipy_programs())


def test_functions_that_are_not_followed_are_named():
    pytest.importorskip("scipy")
    import scipy.integrate
    import scipy.interpolate
    import scipy.ndimage
    import scipy.optimize
    import scipy.signal

    def formula(f):
        return lambda x: sg.latex(f, x)

    def integral(x):
        return x[0] * scipy.integrate.quad(lambda t: np.exp(-x[1] * t), 0, 1)[0]

    def root(x):
        return x[0] * scipy.optimize.brentq(lambda t: t * t - x[1], 0, 9)

    for f, words in (
        (lambda x: scipy.ndimage.gaussian_filter(x, 1.0).sum(), r"scipy.ndimage.gaussian_filter\(\) makes plain"),
        (lambda x: sum(scipy.signal.savgol_filter(x.tolist(), 3, 1)), "scipy.signal.savgol_filter"),
        (lambda x: scipy.interpolate.CubicSpline(np.arange(3), x)(0.5), "scipy.interpolate.CubicSpline"),
        (integral, "scipy.integrate.quad.*np.polynomial.legendre.leggauss"),
        (root, r"scipy.optimize.brentq.*symgrad.implicit.root"),
        (lambda x: scipy.fft.dct(x).sum(), "scipy.fft.dct"),
        (lambda x: scipy.linalg.qr(x[:, None], pivoting=True)[0].sum(), "pivoting=True"),
        (lambda x: scipy.linalg.det(x[:, None], wrong=1), r"scipy.linalg.det with these arguments"),
    ):
        for transform in (func.grad, func.jacfwd, lambda f: sg.compile(func.grad(f)), formula):
            with pytest.raises(sg.errors.UnsupportedFunction, match=words):
                transform(f)(X)
    with pytest.raises(AttributeError, match=r"ndarray.strides of an array that a derivative follows"):
        func.grad(lambda x: x.flat[0] * x.strides[0])(X)


def test_functions_imported_by_their_names():
    names = {"__name__": "program"}
    exec(
        "from math import exp as e, sqrt\nfrom numpy import array, zeros\n"
        "def helper(x):\n    out = zeros(3)\n    out[0] = e(x[0]) * sqrt(x[1])\n    return out\n"
        "def f(x):\n    return (helper(x) + array([x[0], x[1], 1.0])).sum()\n",
        names,
    )
    before = dict(names)
    agrees(names["f"], X)
    assert all(names[name] is value for name, value in before.items())


def test_results_of_several_parts_point_to_their_jacobian():
    with pytest.raises(sg.errors.ArgumentError, match="func.jacrev; for a gradient, return their sum"):
        func.grad(lambda x: [x[0], x[1] ** 2])(X)


def test_constants_filled_with_infinity_compile():
    def warped(c):
        """Dynamic time warping."""
        n, m = c.shape
        d = np.full((n + 1, m + 1), np.inf)
        d[0, 0] = 0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                d[i, j] = c[i - 1, j - 1] ** 2 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
        return d[n, m]

    agrees(warped, A)
    program = sg.compile(func.grad(warped), A)
    assert np.allclose(program(A.T - 1), differences(lambda c: float(warped(c)), A.T - 1), atol=1e-5)


def in_steps(x):
    """Entries are numbers: ``+=`` gives the name another one, and what was kept of it stays."""
    state, kept = {"x": x[0], "v": x[1]}, []
    y = np.zeros((3, 2))
    y[0] = [x[2], 1]
    for k in range(2):
        state["v"] -= 0.1 * x[2] * state["x"]
        state["x"] += state["v"]
        kept.append(state["x"])
        y[k + 1] = [y[k, 0] + kept[k], kept[0] * k]
    total = np.zeros(())
    total += np.var(kept) + y[2, 0] ** 2
    return total + (y * y).sum() + state["v"]


def spread(x):
    return ((x - x.mean()) / np.sqrt(x.var() + 0.1)) ** 3


def eliminated(A, b):
    A, b = A.astype(float).copy(), b.copy()
    for k in range(len(b)):
        p = k + np.argmax(np.abs(A[k:, k]))
        A[[k, p]], b[[k, p]] = A[[p, k]], b[[p, k]]
        for i in range(k + 1, len(b)):
            f = A[i, k] / A[k, k]
            A[i] -= f * A[k]
            b[i] -= f * b[k]
    return A[-1, -1] * b[-1] + b[0]


def test_entries_are_numbers_that_nothing_changes():
    agrees(in_steps, X)
    b, start = np.array([1.0, 2.0]), np.array([1.0, 2.0])

    def summed(x, b):
        s = b[0]
        s += x[0] ** 2
        return s * b[0] * x[1]

    assert np.allclose(func.grad(summed)(X, b), differences(lambda x: summed(x, start), X), atol=1e-6)
    assert np.allclose(sg.compile(func.grad(summed))(X, b), differences(lambda x: summed(x, start), X), atol=1e-6)
    assert np.array_equal(b, start)  # which tensors would have written into


def test_meanings_for_arrays_are_found_in_functions_that_are_called():
    for f in (lambda x: (spread(x) * x).sum(), lambda x: (lambda y: spread(y))(x)[0]):
        agrees(f, X)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda X: (X.transpose(0, 1) * A).sum(), np.eye(3)),
        (lambda X: (X[0].var() + 1) ** 2 * X.sum(), np.ones((3, 3))),
    ],
    ids=["transpose", "var"],
)
def test_meanings_for_arrays_hold_where_entries_are_equal_by_chance(f, x):
    assert np.allclose(func.grad(lambda X: f(X))(x), differences(f, x), atol=1e-8)
    twice = func.hessian(lambda X: f(X))(x).numpy()
    other = func.hessian(lambda X: f(X))(x + np.arange(9.0).reshape(3, 3) * 1e-7).numpy()
    assert np.allclose(twice, other, atol=1e-5)
    program = sg.compile(lambda X: f(X), x)
    assert program(A) == pytest.approx(f(A))


def test_lists_of_places_are_rows():
    for A_ in (A, A[::-1].copy()):
        agrees(lambda a: eliminated(a, np.array([1.0, 2.0, 3.0]) * a[0, 0]), A_)
        want = differences(lambda a: float(eliminated(a, X)), A_)
        assert np.allclose(func.grad(eliminated)(A_, X), want, atol=1e-5)


def test_of_values_for_one_place_the_last_one_counts():
    def f(x):
        out = np.zeros((4, 2))
        out[[0, 2, 0, -2]] = np.stack([x[:2], x[1:], x[:2] ** 2, x[1:] ** 3])
        np.put(out, [1, 1], x[:2])
        k = int(x[0] > 1)
        out[[k, 3], [1, 1]], out[[3, k], [0, 0]] = x[:2], x[1] ** 2
        low = np.argmin(x)
        out[[low, 0]] = out[[0, low]] * x[2]
        return (out**2 * np.arange(8.0).reshape(4, 2)).sum()

    for x in (X, X[::-1].copy()):
        agrees(f, x)
    program = sg.compile(func.grad(f))
    for x in (X, X[::-1].copy(), X[[1, 0, 2]]):
        assert np.allclose(program(x), differences(f, x), atol=1e-4)


def test_numbers_written_into_arrays_from_elsewhere_are_refused():
    outside = np.zeros(3)

    def f(x):
        outside[1] = x[0] ** 2
        return outside[1] * x[1]

    for transform in (func.grad, func.jacfwd, lambda f: sg.compile(func.grad(f))):
        with pytest.raises(sg.errors.UnsupportedFunction, match=r"no argument of the function.*np.array\(a\)"):
            transform(f)(X)


def test_jit_runs_programs_for_arrays():
    def steps(x):
        y = x.copy()
        y[1:] += 0.1 * y[:-1]
        return y.max(axis=0, keepdims=True) + y.std()

    for f in (steps, spread, lambda x: x.size + x.astype(float) * 2):
        program = sg.jit(f)
        for x in (X, X, X, X + 1):
            assert np.allclose(program(x), f(x))


def test_programs_beside_functions_of_math():
    """Their last digits differ from those of the ops."""
    agrees(lambda x: np.sum(np.log1p(np.exp(x))) + math.lgamma(x[1] + 1) - x[0] * math.log(x[2]), X)


def test_extremes_of_what_was_written_have_formulas():
    """The arguments of a condition may have more axes than its place in a product, or fewer."""

    def best(a):
        d = np.zeros((3, 3))
        d[0] = a[0]
        for t in range(1, 3):
            for j in range(3):
                d[t, j] = np.max(d[t - 1] + a[:, j]) + 0.1 * t * a[j, j]
        return d[-1].max()

    assert sg.latex(best, A)
