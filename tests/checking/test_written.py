"""Functions of arrays that write into arrays of their own, read lists of numbers, and call the module math."""

import math
import threading

import numpy as np
import pytest

from symgrad.check import check

X = np.array([0.4, -1.1, 0.7, 2.0])
K = np.array([0.5, -0.3])


def exact(report):
    assert report.method.startswith("the exact derivative"), report
    return report


def convolved(x, k):
    out = np.zeros((len(x) - 1, 2))
    for t in range(len(out)):
        out[t, 0] = np.sum(x[t : t + 2] * k)
        out[t, 1] += x[t] * out[t, 0]
    return (out**2).sum()


def convolved_gradient(x, k, m=""):
    out, dx, dk = np.zeros((len(x) - 1, 2)), np.zeros_like(x), np.zeros_like(k)
    for t in range(len(out)):
        out[t, 0] = x[t : t + 2] @ k
        out[t, 1] = x[t] * out[t, 0]
    for t in range(len(out)):
        g = 2 * out[t, 0] + 2 * out[t, 1] * x[t]
        if m == "=":
            dx[t : t + 2] = g * k
        else:
            dx[t : t + 2] += g * k
        dk += g * x[t : t + 2]
        if m != "path":
            dx[t] += 2 * out[t, 1] * out[t, 0]
    return dx, dk


def of_numbers(x):
    total = 0.0
    for v in x:
        total += math.log(1 + math.exp(v)) * math.pow(v, 2) + math.erf(v) + math.hypot(v, 1)
    return float(total)


def of_numbers_gradient(x):
    s, p = 1 / (1 + np.exp(-x)), np.log1p(np.exp(x))
    return s * x**2 + 2 * p * x + 2 / math.sqrt(math.pi) * np.exp(-(x**2)) + x / np.hypot(x, 1)


def by_asarray(x):
    x = np.asarray(x, dtype=float).copy()
    x *= 2
    return np.ascontiguousarray(x) @ np.array([x[0] * x[1], 1.0, np.sin(x[3]), 0])


def by_asarray_gradient(x):
    a, b, c, d = 2 * x
    return 2 * np.array([2 * a * b, a * a + 1, np.sin(d), c * np.cos(d)])


def prefix(x):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        before = out[i - 1]  # a number of its own: what is written later does not change it
        out[i - 1] = before * x[i]
        out[i] = before + x[i] ** 2
    return out.sum()


def prefix_gradient(x):
    a, b, c, d = x
    # a b + (a + b²) c + (a + b² + c²) d + a + b² + c² + d²
    return np.array([b + c + d + 1, a + 2 * b * (c + d + 1), a + b * b + 2 * c * (d + 1), a + b * b + c * c + 2 * d])


@pytest.mark.parametrize(
    ("f", "grad", "args"),
    [
        (convolved, convolved_gradient, (X, K)),
        (of_numbers, of_numbers_gradient, (X,)),
        (by_asarray, by_asarray_gradient, (X,)),
        (prefix, prefix_gradient, (X,)),
    ],
)
def test_they_are_followed(f, grad, args):
    zeros, exp = np.zeros, math.exp
    assert exact(check(f, grad, *args)).ok
    assert not check(f, lambda *args: np.multiply(grad(*args)[0] if len(args) > 1 else grad(*args), 1 + 1e-9), *args)
    assert (np.zeros, math.exp) == (zeros, exp)


@pytest.mark.parametrize(
    ("m", "words"), [("=", "Parts of x that overlap"), ("path", "comes through x[2] is missing, each time")]
)
def test_mistakes_are_named(m, words):
    report = exact(check(convolved, lambda x, k: convolved_gradient(x, k, m), X, K))
    assert words in report.diagnosis.sentence, report


def test_jacobians_of_lists_of_numbers():
    def rosenbrock(x):
        return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])

    report = check(rosenbrock, lambda x: np.array([[-20 * x[0], 10], [1.0, 0]]), X[:2])
    assert "1 - x[0]" in exact(report).diagnosis.sentence, report
    assert "wrong sign" in report.diagnosis.sentence


def test_sums_at_places_of_a_buffer():
    def f(x):
        out = np.zeros(3)
        np.add.at(out, np.array([0, 2, 2, 1]), x**2)
        return (out * np.arange(3)).sum()

    assert exact(check(f, lambda x: 2 * x * np.array([0, 2, 2, 1]), X)).ok


def test_other_threads_get_plain_arrays():
    seen, go, done = [], threading.Event(), threading.Event()

    def other():
        go.wait(300)
        seen.extend([np.zeros(2), math.exp(0.0)])
        done.set()

    def f(x):
        go.set()
        done.wait(300)
        return (np.zeros(4) + x**2).sum()

    thread = threading.Thread(target=other)
    thread.start()
    assert check(f, lambda x: 2 * x, X).ok
    thread.join()
    assert [type(value) for value in seen] == [np.ndarray, float]


def test_a_function_that_computes_in_single_precision_has_gradients_in_it():
    def f(x):
        return float((np.asarray(x, np.float32) ** 3).sum())

    assert exact(check(f, lambda x: 3 * x**2, X)).ok
    assert check(f, lambda x: 3 * x.astype(np.float32).astype(float) ** 2, X).ok
    assert not check(f, lambda x: 3 * x**2 + 1e-3, X)
