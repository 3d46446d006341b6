"""sg.check finds the line of a gradient's own function that makes it right when it is changed."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry

RNG = np.random.default_rng(7)
X, t, w = RNG.normal(size=(6, 3)), RNG.normal(size=6), RNG.normal(size=3)
RATINGS = [(0, 1, 4.0), (0, 2, 3.0), (1, 0, 5.0), (2, 1, 1.0), (2, 3, 2.0), (3, 2, 4.0)]
P, Q = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))
strength = 0.3


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 60)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 0)


def squares(w):
    r = X @ w - t
    return 0.5 * r @ r + 0.5 * strength * w @ w


def factorised(P, Q):
    total = 0.0
    for u, i, r in RATINGS:
        total = total + (r - P[u] @ Q[i]) ** 2
    return total


def stale_row(P, Q):
    gP, gQ = np.zeros_like(P), np.zeros_like(Q)
    for u, i, r in RATINGS:
        e = r - P[u] @ Q[i]
        gP[u] -= 2 * e * Q[i]
        gQ[i] -= 2 * e * Q[i]
    return gP, gQ


def other_index(P, Q):
    gP, gQ = np.zeros_like(P), np.zeros_like(Q)
    for u, i, r in RATINGS:
        e = r - P[u] @ Q[i]
        gP[u] -= 2 * e * Q[i]
        gQ[u] -= 2 * e * P[u]
    return gP, gQ


def overwritten(P, Q):
    gP, gQ = np.zeros_like(P), np.zeros_like(Q)
    for u, i, r in RATINGS:
        e = r - P[u] @ Q[i]
        gP[u] -= 2 * e * Q[i]
        gQ[i] = -2 * e * P[u]
    return gP, gQ


def no_strength(w):
    r = X @ w - t
    return X.T @ r + w


def normalised_rows(Z):
    p = np.exp(Z) / np.exp(Z).sum(1, keepdims=True)
    return (p * np.arange(12.0).reshape(3, 4) ** 2).sum()


def along_columns(Z):
    p = np.exp(Z) / np.exp(Z).sum(1, keepdims=True)
    g = np.arange(12.0).reshape(3, 4) ** 2
    return p * (g - (p * g).sum(axis=0, keepdims=True))


@pytest.mark.parametrize(
    ("f", "grad", "args", "was", "right"),
    [
        (factorised, stale_row, (P, Q), "gQ[i] -= 2 * e * Q[i]", "gQ[i] -= 2 * e * P[u]"),
        (factorised, other_index, (P, Q), "gQ[u] -= 2 * e * P[u]", "gQ[i] -= 2 * e * P[u]"),
        (factorised, overwritten, (P, Q), "gQ[i] = -2 * e * P[u]", "gQ[i] += -2 * e * P[u]"),
        (squares, no_strength, (w,), "return X.T @ r + w", "return X.T @ r + w * strength"),
        (
            normalised_rows,
            along_columns,
            (RNG.normal(size=(3, 4)),),
            "return p * (g - (p * g).sum(axis=0, keepdims=True))",
            "return p * (g - (p * g).sum(axis=1, keepdims=True))",
        ),
    ],
)
def test_the_line_is_found(f, grad, args, was, right):
    code = grad.__code__
    report = check(f, grad, *args)
    assert not report.ok
    assert (report.mend.was, report.mend.right) == (was, right)
    assert grad.__code__ is code
    page = str(report)
    assert f"- {was}\n" in page
    assert f"+ {right}\n" in page
    assert report.mend.file == __file__
    assert report.to_dict()["mend"]["right"] == right


def test_the_line_is_the_diagnosis_where_nothing_else_explains_it():
    found = check(factorised, other_index, P, Q).diagnosis
    assert found.kind == "line"
    assert "gQ[i] -= 2 * e * P[u] is right" in found.sentence
    assert found.line.endswith("gQ[u] -= 2 * e * P[u]")


def with_moving_average(phi, theta, y):
    e = total = 0.0
    for t in range(1, len(y)):
        e = y[t] - phi * y[t - 1] - theta * e
        total = total + 0.5 * e**2
    return total


def one_round_short(phi, theta, y):
    e = dp = dt = gp = gt = 0.0
    for t in range(1, len(y) - 1):
        dp = -y[t - 1] - theta * dp
        dt = -e - theta * dt
        e = y[t] - phi * y[t - 1] - theta * e
        gp += e * dp
        gt += e * dt
    return gp, gt


def likelihood_with_ties(beta, Z):
    w = np.exp(Z @ beta)
    return sum(np.log(w.sum() - k / 3 * w[:3].sum()) for k in range(3))


def whole_quotients(beta, Z):
    w, g = np.exp(Z @ beta), np.zeros_like(beta)
    for k in range(3):
        phi = w.sum() - k / 3 * w[:3].sum()
        g += (w @ Z - k // 3 * (w[:3] @ Z[:3])) / phi
    return g


SERIES = np.random.default_rng(0).normal(size=9)


def test_a_round_that_is_left_out_is_told_by_what_it_adds_and_by_the_line():
    report = check(with_moving_average, one_round_short, 0.6, 0.4, SERIES, argnums=(0, 1))
    for argument in report.arguments:
        assert argument.diagnosis.sentence == "The part of the gradient that comes from 0.5 * e**2 is missing."
    assert report.mend.right == "for t in range(1, len(y)):"


def test_a_mend_says_it_all_where_a_guess_at_overlapping_parts_speaks_of_other_things():
    found = check(likelihood_with_ties, whole_quotients, w, X, argnums=0).diagnosis
    assert found.kind == "line"
    assert found.sentence.startswith("Line ")
    assert found.sentence.endswith("g += (w @ Z - k / 3 * (w[:3] @ Z[:3])) / phi is right.")


def test_a_guess_that_a_mend_bears_out_follows_it():
    found = check(factorised, overwritten, P, Q)["Q"].diagnosis
    assert found.kind == "overwritten"
    assert found.sentence.startswith("Line ")
    assert "that overlap are read in several places" in found.sentence


def test_variables_of_the_functions_around_stay():
    def around(scale, shift):
        return (
            lambda w: scale * (np.sin(w + shift)).sum(),
            lambda w: scale * shift * np.cos(w + shift),
        )

    mend = check(*around(0.7, 0.4), w).mend
    assert "scale * np.cos(w + shift)" in mend.right


def test_methods_are_looked_at_and_their_forward_passes_are_not():
    class Layer:
        def __init__(self, W):
            self.W = W

        def forward(self, x):
            self.x, self.h = x, np.tanh(self.W @ x)
            return self.h

        def backward(self, g):
            u = g * (1 - self.h)
            return self.W.T @ u

    layer = Layer(X)
    mend = check(layer.forward, layer.backward, w).mend
    assert mend.was == "u = g * (1 - self.h)"
    assert mend.right == "u = g * (1 - self.h**2)"


def test_what_is_right_at_one_point_only_is_not_believed():
    mend = check(lambda x: (x**3).sum(), lambda x: 2 * x**2, np.ones(3)).mend
    assert mend is None or "3 * x**2" in mend.right


def test_functions_that_reach_out_are_run_as_they_are_written_only(tmp_path):
    written = []

    def grad(x):
        with open(tmp_path / "log", "a") as file:  # noqa: PTH123  (by name, as people write it)
            file.write("called\n")
        written.append(len((tmp_path / "log").read_text()))
        return 3 * x

    report = check(lambda x: (x**2).sum(), grad, w)
    assert not report.ok
    assert report.mend is None


def test_what_other_texts_write_is_undone():
    fixed, log = np.zeros(3), []

    def grad(x):
        u = np.zeros(3)
        u[:] = fixed + 4 * x
        log.append(1)
        return u / 3 + 0.0123

    before = fixed.copy()
    check(lambda x: (x**2).sum(), grad, w)
    assert np.array_equal(fixed, before)
    assert len(log) < 10  # calls of other texts are undone


def test_loops_without_an_end_are_left_alone():
    def grad(x):
        k = 0
        while k < 3:
            k += 1
        return k * x

    report = check(lambda x: (x**2).sum(), grad, w)
    assert not report.ok
    assert report.mend is None


def test_large_arguments_and_numbers_have_none():
    assert check(lambda x: (x**2).sum(), lambda x: 3 * x, np.ones(5000)).mend is None
    assert check(lambda x: (x**2).sum(), 3 * w, w).mend is None
    assert check(lambda x: (x**2).sum(), lambda x: 2 * x, w).mend is None


def test_nothing_but_what_is_written_runs_where_that_is_asked_for():
    codes = set()

    def squares_grad(w):
        return X.T @ (t - X @ w) + strength * w

    def asked(w):
        codes.add(squares_grad.__code__)
        return squares_grad(w)

    written = squares_grad.__code__
    assert check(squares, asked, w, mend=False).mend is None
    assert codes == {written}
    assert check(squares, asked, w).mend.right == "return X.T @ (X @ w - t) + strength * w"
    assert len(codes) > 1
    assert squares_grad.__code__ is written


def masked(x, seed):
    return np.tanh(x * (np.random.default_rng(seed).random(3) < 0.5)).sum()


def masked_otherwise(x, seed):
    keep = np.random.default_rng(seed + 1).random(3) < 0.5
    return keep * (1 - np.tanh(x * keep) ** 2)


def bounded(x):
    return np.tanh(x).sum()


def difference_squared(x):
    return (1 - np.tanh(x)) ** 2


def summed(x):
    return (x**4).sum()


def turned_round(x):
    return 4 * x[::-1] ** 3


def softplus(x):
    return (np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))).sum()


def shifted_threshold(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0.5, 1 / (1 + e), e / (1 + e))


@pytest.mark.parametrize(
    ("f", "grad", "args", "right"),
    [
        (masked, masked_otherwise, (w, 7), "keep = np.random.default_rng(seed).random(3) < 0.5"),
        (bounded, difference_squared, (w,), "return 1 - np.tanh(x)**2"),
        (summed, turned_round, (w,), "return 4 * x ** 3"),
        (
            softplus,
            shifted_threshold,
            (np.array([0.3, -1.2, 2.0]),),
            "return np.where(x >= 0, 1 / (1 + e), e / (1 + e))",
        ),
    ],
)
def test_the_plainest_change_is_the_mend(f, grad, args, right):
    report = check(f, grad, *args, argnums=0)
    assert report.mend is not None, report
    assert report.mend.right.replace(" ", "") == right.replace(" ", "")
