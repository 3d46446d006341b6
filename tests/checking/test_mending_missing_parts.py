"""Lines that sg.check mends: elements in each other's place, expressions cut short, terms and factors forgotten, a
product for a system, and two mistakes at once."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry
from symgrad.check.mending.pairs import Pairs

RNG = np.random.default_rng(8)
A, b, X, y = RNG.normal(size=(3, 3)) + 3 * np.eye(3), RNG.normal(size=3), RNG.normal(size=(5, 3)), RNG.normal(size=5)
RATINGS = [(0, 1, 4.0), (0, 2, 3.0), (1, 0, 5.0), (2, 1, 1.0), (2, 3, 2.0), (3, 2, 4.0)]
P, Q = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 60)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 60)


def gated(x):
    a, b, c = np.tanh(x[:3]), np.exp(x[3:6]), x[6:] ** 2
    return (a * b * c).sum()


def gates_swapped(x):
    a, b, c = np.tanh(x[:3]), np.exp(x[3:6]), x[6:] ** 2
    return np.hstack([a * b * c, (1 - a**2) * b * c, a * b * 2 * x[6:]])


def dispersed(x):
    mu, size = np.exp(X @ x), 0.7
    return (y * np.log(mu) - (y + size) * np.log(mu + size)).sum()


def cut_short(x):
    mu, size = np.exp(X @ x), 0.7
    total = mu + size
    return X.T @ (y - (y + size) * mu / size) + 0 * total.sum()


def solved(b):
    return 0.5 * b @ np.linalg.solve(A @ A.T, b)


def multiplied(b):
    S = A @ A.T
    return S @ b


def smoothed(x):
    return sum((x[k + 1] - 2 * x[k] + x[k - 1]) ** 2 for k in range(1, len(x) - 1))


def without_one(x):
    g = np.zeros_like(x)
    for k in range(1, len(x) - 1):
        d = 2 * (x[k + 1] - 2 * x[k])
        g[k - 1] += d
        g[k] -= 2 * d
        g[k + 1] += d
    return g


def logistic(w):
    return (np.log1p(np.exp(X @ w)) - (y > 0) * (X @ w)).sum()


def labels_first(w):
    p = 1 / (1 + np.exp(-(X @ w)))
    return X.T @ ((y > 0) - p)


def cdf(z):
    return 1 / (1 + np.exp(-z))


def pdf(z):
    return cdf(z) * (1 - cdf(z))


def improved(w):
    eta = X @ w
    return (eta * cdf(eta) + 0.1 * pdf(eta)).sum()


def of_the_integral(w):
    eta = X @ w
    return X.T @ (cdf(eta) + eta * cdf(eta) + 0.1 * pdf(eta) * (1 - 2 * cdf(eta)))


def shrunk(W):
    return (W**2).sum() - 2 * np.trace(W)


def half_an_identity(W):
    return 2 * W - np.eye(len(W))


def log_sum_exp(w):
    return np.log(np.exp(w).sum())


def divided_by_their_number(w):
    e = np.exp(w)
    return e / len(e)


@pytest.mark.parametrize(
    ("f", "grad", "at", "right"),
    [
        (logistic, labels_first, b, "return X.T @ (p - (y > 0))"),
        (
            improved,
            of_the_integral,
            b,
            "return X.T @ (cdf(eta) + eta * pdf(eta) + 0.1 * pdf(eta) * (1 - 2 * cdf(eta)))",
        ),
        (shrunk, half_an_identity, A, "return 2 * W - 2 * np.eye(len(W))"),
        (log_sum_exp, divided_by_their_number, b, "return e / sum(e)"),
        (
            gated,
            gates_swapped,
            RNG.normal(size=9),
            "return np.hstack([(1 - a**2) * b * c, a * b * c, a * b * 2 * x[6:]])",
        ),
        (dispersed, cut_short, b, "return X.T @ (y - (y + size) * mu / (mu + size)) + 0 * total.sum()"),
        (solved, multiplied, b, "return np.linalg.solve(S, b)"),
        (smoothed, without_one, y, "d = 2 * (x[k + 1] - 2 * x[k] + x[k - 1])"),
    ],
)
def test_the_line_is_found(f, grad, at, right):
    report = check(f, grad, at, diagnose=240)
    assert not report.ok
    assert report.mend is not None, report
    assert report.mend.right == right


def factorised(P, Q):
    return sum((r - P[u] @ Q[i]) ** 2 for u, i, r in RATINGS)


def two_lines(P, Q):
    gP, gQ = np.zeros_like(P), np.zeros_like(Q)
    for u, i, r in RATINGS:
        e = r - P[u] @ Q[i]
        gP[u] -= 2 * e * Q[u]
        gQ[u] -= 2 * e * P[u]
    return gP, gQ


def test_two_mistakes_are_found_together():
    report = check(factorised, two_lines, P, Q)
    mend = report.mend
    assert (mend.was, mend.right) == ("gP[u] -= 2 * e * Q[u]", "gP[u] -= 2 * e * Q[i]")
    assert (mend.also.was, mend.also.right) == ("gQ[u] -= 2 * e * P[u]", "gQ[i] -= 2 * e * P[u]")
    assert report.diagnosis.sentence.startswith("There are two mistakes. Line ")
    page = str(report)
    assert (
        f"test_mending_missing_parts.py:{mend.line} and test_mending_missing_parts.py:{mend.also.line}, with which all"
        in " ".join(page.split())
    )
    assert report.to_dict()["mend"]["also"]["right"] == "gQ[i] -= 2 * e * P[u]"


def test_two_changes_complete_each_other_only_where_they_add_up():
    report = check(lambda P, Q: (P * Q).sum(), lambda P, Q: (P, Q), P, Q, diagnose=False)
    pairs, missing = Pairs(report.arguments), [a.exact - a.given for a in report.arguments]
    given = [a.given for a in report.arguments]
    pairs.note([given[0] + missing[0], given[1]], "the first")
    pairs.note([given[0] + 1, given[1]], "another one")
    pairs.note([given[0], given[1] + missing[1]], "the second")
    assert set(pairs.complete()) == {("the first", "the second"), ("the second", "the first")}


W, T = RNG.normal(size=(3, 4)), np.eye(4)[RNG.integers(0, 4, 5)]


def cross_entropy(W):
    S = X @ W
    return np.sum(np.log(np.sum(np.exp(S), axis=1))) - np.sum(T * S)


def normalised_by_columns(W):
    E = np.exp(X @ W)
    return X.T @ (E / E.sum(axis=0) - T)


def test_a_sum_that_is_divided_by_is_mended_with_its_axis_kept():
    assert "+ return X.T @ (E / E.sum(axis=1, keepdims=True) - T)" in str(
        check(cross_entropy, normalised_by_columns, W)
    )


def probit(w):
    eta = X @ w
    return np.exp(-0.5 * eta**2).sum() + 0.3 * np.tanh(eta).sum()


def without_the_derivative_of_tanh(w):
    eta = X @ w
    t = np.tanh(eta)
    return X.T @ (-eta * np.exp(-0.5 * eta**2) + 0.3 * np.ones_like(t))


def kernel_likelihood(K):
    return 0.5 * b @ np.linalg.solve(K, b) + 0.5 * np.linalg.slogdet(K)[1]


def without_the_outer_product(K):
    inverse = np.linalg.inv(K).T
    alpha, beta = inverse @ b, inverse.T @ b
    return 0.5 * inverse if alpha.size else beta


def attention(S, V):
    return ((S @ V) ** 2).sum()


def batch_not_transposed(S, V):
    g = 2 * S @ V
    return g @ V.swapaxes(-1, -2), S @ g


def looked_up(E):
    return (E[IDS] ** 2).sum()


def rows_written_over(E):
    g = np.zeros_like(E)
    g[IDS] = 2 * E[IDS]
    return g


IDS = np.array([0, 2, 0, 1])
BATCH = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(2, 3, 3))


@pytest.mark.parametrize(
    ("f", "grad", "args", "right"),
    [
        (probit, without_the_derivative_of_tanh, [b], ["np.ones_like(t) * (1 - t**2)"]),
        (kernel_likelihood, without_the_outer_product, [A], ["inverse - np.outer(alpha, beta)"]),
        (attention, batch_not_transposed, BATCH, ["S.swapaxes(-1, -2) @ g"]),
        (looked_up, rows_written_over, [P], ["np.add.at(g, IDS, 2 * E[IDS])"]),
    ],
)
def test_what_is_missing_is_put_together_once_the_mistake_has_a_name(f, grad, args, right):
    report = check(f, grad, *args)
    assert not report.ok
    assert report.mend is not None, report
    assert any(words in report.mend.right for words in right), report.mend


@pytest.mark.parametrize(
    ("written", "right"),
    [("-np.exp(-0.5 * w**2) * w", "/ np.sqrt(2 * np.pi)"), ("-np.exp(-0.5 * w**2) * w / len(w)", "")],
)
def test_a_number_that_all_lacks_is_written_as_what_it_is(written, right, tmp_path):
    import importlib.util

    file = tmp_path / f"densities_{len(right)}.py"
    file.write_text(f"import numpy as np\n\n\ndef grad(w):\n    return {written}\n")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    report = check(lambda w: (np.exp(-0.5 * w**2) / (np.sqrt(2 * np.pi) if right else 1)).sum(), module.grad, b)
    assert report.mend.right == f"return -np.exp(-0.5 * w**2) * w{f' {right}' if right else ''}"


def shrunk(a, threshold):
    return (np.maximum(np.abs(a) - threshold, 0) ** 2).sum()


def threshold_forgotten(a, threshold):
    active = np.abs(a) > 0
    g = 2 * (np.abs(a) - threshold) * active
    return g * np.sign(a), -g


def test_a_number_that_splits_the_entries_of_one_point_is_no_threshold():
    """Any number between the smallest entry that counts and the largest that does not is right at one point."""
    a, threshold = np.array([1.4, -0.2, 2.0, 0.3, -1.8]), np.array([0.5, 0.6, 0.8, 0.7, 0.9])
    report = check(shrunk, threshold_forgotten, a, threshold)
    assert report.mend is None or "threshold" in report.mend.right.partition(">")[2], report.mend


def test_what_is_cut_off_for_torch_is_mended():
    torch = pytest.importorskip("torch")

    def loss(t, x):
        p = torch.softmax(x @ t, dim=1)
        return (p.max(dim=1).values * torch.log(p[:, 0])).mean()

    def manual(t, x):
        t = t.detach().clone().requires_grad_()
        p = torch.softmax(x @ t, dim=1)
        weights = p.max(dim=1).values.detach()
        (weights * torch.log(p[:, 0])).mean().backward()
        return t.grad

    def scaled(t, x):
        t = t.detach().clone().requires_grad_()
        p, scale = torch.softmax(x @ t, dim=1), torch.tensor(2.5, dtype=x.dtype)
        g = torch.autograd.grad((p.max(dim=1).values * torch.log(p[:, 0])).mean(), t)[0] / scale
        return g + 0 * scale

    t, x = (torch.tensor(RNG.normal(size=shape)) for shape in ((3, 4), (5, 3)))
    assert check(loss, manual, t, x, argnums=0).mend.right == "weights = p.max(dim=1).values"
    assert check(loss, scaled, t, x, argnums=0).mend is not None
