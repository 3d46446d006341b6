"""Functions of engineers saved as C99: at other sizes they are what the NumPy program is, and codes tell the rest."""

import subprocess

import numpy as np
import pytest

import symgrad as sg
from symgrad.proving.in_c import WARNINGS, called, library, text_of
from tests.compiling.c.built import CC, built_and_called, needs_cc
from tests.compiling.of_engineers import attention, gaussian, image, logistic, pieces, stencil, systems, truss

F = sg.nn.functional
rng = np.random.default_rng(0)


def chain(theta, double):
    angle = sg.cumsum(theta, 0)
    return sg.stack([(double * sg.cos(angle)).sum(), (double * sg.sin(angle)).sum()])


def ranked(x, y):
    up, down = sg.sort(x, dim=0, stable=True).values, sg.sort(y, dim=1, descending=True, stable=True).values
    return (up * down).sum() + (up[0] ** 2).sum() + F.max_pool1d(x, 2).pow(2).sum()


def turned(x):
    steps = sg.diff(x[::2][::-2], dim=0)
    return (x[::-1][-2:] ** 2).sum() + x[::-1][::-1][1:].prod() + (x.T[-3::-2][::-1] ** 3).sum() + (steps**2).sum()


def lengths(x, p):
    some = sum(sg.linalg.vector_norm(x, k, dim=1).prod() for k in (0, 1, 2, 3, np.inf, -np.inf))
    return some + x.norm() + sg.relu(x - p).pow(2).sum() + sg.div(x, p, rounding_mode="floor").sum()


def modes(S, w):
    values, vectors = sg.linalg.eigh(S + S.mT)
    sign, size = sg.linalg.slogdet(S)
    return (values**3).sum() + ((vectors * vectors)[..., 0] * w).sum() + (sign * size).sum()


def stepped(x, y, rows):
    z = x * 2
    z[rows] = y
    z[1:3, ::2] = x[:2, 1::2] ** 2
    z[-1] = 1.5
    return (z**3).sum()


ENDS = np.array([[0, 1], [1, 2], [2, 3], [-1, 0]])


def definite(n):
    A = rng.random((n, n))
    return A @ A.T + n * np.eye(n)


def stacks(b, n):
    return rng.random((b, n, n)) + n * np.eye(n)


CASES = {
    "logistic": (
        sg.func.value_and_grad(logistic),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), (rng.random(5 + k) > 0.5) * 1.0),
    ),
    "logistic, second": (
        sg.func.hessian(logistic),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), (rng.random(5 + k) > 0.5) * 1.0),
    ),
    "truss": (sg.func.grad(truss), lambda k: (rng.random((5 + k, 2)), ENDS, rng.random(4))),
    "gaussian": (sg.func.grad(gaussian, argnums=(0, 1)), lambda k: (definite(3 + k), rng.random(3 + k))),
    "systems": (sg.func.grad(systems), lambda k: (stacks(2, 3 + k), rng.random((2, 3 + k, 2)))),
    "attention": (
        sg.func.grad(attention),
        lambda k: (rng.random((4 + k, 3)), rng.random((6 + k, 3)), rng.random((6 + k, 2))),
    ),
    "stencil": (sg.func.grad(stencil), lambda k: (rng.random((5 + k, 7 + k)),)),
    "pieces": (sg.func.grad(pieces, argnums=(0, 1)), lambda k: (2 * rng.random(5 + k), 2 * rng.random(3 + k))),
    "image": (sg.func.grad(image), lambda k: (rng.random((6 + k, 8 + k)), rng.random((3, 3)))),
    "ranked": (
        sg.func.value_and_grad(ranked, argnums=(0, 1)),
        lambda k: (rng.permutation(np.arange(48.0 + 16 * k) // 2).reshape(-1, 8), rng.random((6 + 2 * k, 8))),
    ),
    "turned": (sg.func.value_and_grad(turned), lambda k: (rng.random((5 + k, 6 + k)),)),
    "lengths": (sg.func.value_and_grad(lengths), lambda k: (rng.random((4 + k, 5)) * ENDS[0, 1], np.float64(0.3))),
    "modes": (sg.func.value_and_grad(modes, argnums=(0, 1)), lambda k: (stacks(2, 3 + k), rng.random(3 + k))),
    "stepped": (
        sg.func.value_and_grad(stepped, argnums=(0, 1)),
        lambda k: (rng.random((5 + k, 6)), rng.random((2, 6)), np.array([-2, 1])),
    ),
    "chain": (sg.func.jacobian(chain), lambda k: (rng.random(4 + k), rng.random(4 + k))),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The programs of all cases with their texts, and the library of their functions."""
    folder = tmp_path_factory.mktemp("c")
    programs = {
        name: sg.compile(f, *make(0), name=f"f{k}_").program for k, (name, (f, make)) in enumerate(CASES.items())
    }
    texts = {name: text_of(p, folder) for name, p in programs.items()}
    return programs, texts, library(list(texts.values()), folder, "-O0") if CC else None


@needs_cc
@pytest.mark.parametrize("name", CASES)
def test_c_gives_what_numpy_gives_at_other_sizes(name, compiled):
    programs, texts, found = compiled
    f, make = CASES[name]
    for k in (0, 2):
        args = make(k)
        outs, status = called(found, programs[name], texts[name], *args)
        assert status == 0
        expected = programs[name].function(*args)
        for a, b in zip(outs, expected if isinstance(expected, tuple) else (expected,), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@needs_cc
@pytest.mark.parametrize("name", ["gaussian", "truss"])
def test_selftest_of_a_c_file(name, compiled, tmp_path):
    (tmp_path / "f.c").write_text(compiled[1][name], encoding="utf-8")
    made = tmp_path / "f"
    subprocess.run([CC, *WARNINGS, "-O2", "-DSELFTEST", str(tmp_path / "f.c"), "-o", str(made), "-lm"], check=True)
    assert "self-test passed" in subprocess.run([str(made)], capture_output=True, text=True, check=True).stdout


@needs_cc
def test_c_tells_what_does_not_fit_by_its_code(compiled):
    programs, texts, found = compiled
    wrong = np.array([[0, 1], [1, 9], [2, 3], [0, 1]])
    assert called(found, programs["truss"], texts["truss"], rng.random((5, 2)), wrong, rng.random(4))[1] == 3
    assert called(found, programs["gaussian"], texts["gaussian"], -np.eye(3), np.ones(3))[1] == 4
    assert called(found, programs["systems"], texts["systems"], np.zeros((2, 3, 3)), np.ones((2, 3, 2)))[1] == 4
    assert "place in an array of places" in texts["truss"]


def test_the_text_is_the_same_twice_and_says_what_it_computes(tmp_path):
    f = sg.compile(sg.func.grad(logistic), rng.random(3), rng.random((5, 3)), np.ones(5))
    texts = [text_of(p, tmp_path) for p in (f.program, sg.compile(f.function, *CASES["logistic"][1](0)).program)]
    assert texts[0].split("#ifdef SELFTEST")[0] == texts[1].split("#ifdef SELFTEST")[0]
    head = "int grad_logistic(ptrdiff_t m, ptrdiff_t n, const double *w, const double *X, const double *y, double *out)"
    assert head in texts[0]
    assert "Formula (LaTeX)" in texts[0]


def test_helpers_that_no_line_calls_are_left_out(tmp_path):
    program = sg.compile(lambda x: sg.norm(x.gather(0, sg.zeros((), dtype=sg.int64)), 1), np.float64(-2.0)).program
    assert "wrap(" not in text_of(program, tmp_path)


def test_statements_say_what_they_compute_and_exponentials_are_computed_once(tmp_path):
    def labelled(W, X):
        scores = X @ W
        return (sg.logsumexp(scores, 1) - sg.log_softmax(scores, 1)[:, 0]).sum() + sg.tanh(X + W.T).sum()

    W, X = rng.random((3, 3)), rng.random((3, 3))
    text = text_of(sg.compile(sg.func.value_and_grad(labelled), W, X), tmp_path)
    assert text.count("= exp(") == 1
    assert "/* matmul(X, W) */" in text
    assert "tanh(X[" in text  # no brackets in brackets


@needs_cc
def test_infinite_entries_are_what_they_are_in_numpy(tmp_path):
    """Masked scores beside the one that is chosen, rows that are all -inf, and factors that no number holds."""
    scores = np.array([[-np.inf, 0.5, 1.0], [-np.inf, -np.inf, -np.inf], [np.inf, 1.0, 2.0], [1e10, 1e10 + 1, 0.0]])
    labels = np.array([2, 0, 1, 0])
    far = np.array([-30.0, 3.0, 24.9, 25.1, 1e200, np.inf, -np.inf, np.nan])
    rows = (
        (lambda x, y: F.cross_entropy(x, y, reduction="none"), (scores, labels)),
        (sg.func.grad(lambda x: sg.logsumexp(x, 1).sum()), (scores,)),
        (sg.special.erfcx, (far,)),
        (sg.func.grad(lambda x: sg.special.log_ndtr(x).sum()), (far,)),
        (lambda x, y, w: sg.lerp(x, y, w), (far, np.ones(8), np.full(8, 0.75))),
    )
    for found, wanted in built_and_called(tmp_path, *rows):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
