"""NumPy's functions on tensors: the values NumPy gives, with gradients; and refusals in the library's words."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AutogradError, UnsupportedFunction

RNG = np.random.default_rng(0)
A = RNG.random((3, 3)) + 3 * np.eye(3)
B = RNG.random((2, 3))
V, W = RNG.random(3), RNG.random(3)

CASES = {
    "sin": (np.sin, A),
    "exp": (np.exp, A),
    "abs": (np.abs, A),
    "hypot": (lambda x: np.hypot(x, 1.0), A),
    "power": (lambda x: np.power(x, 2), A),
    "logaddexp": (lambda x: np.logaddexp(x, A), A),
    "maximum": (lambda x: np.maximum(x, 0.5), A),
    "deg2rad": (np.deg2rad, A),
    "add broadcast": (lambda x: np.add(x, B[0]), V),
    "array + tensor": (lambda x: A + x, V),
    "array @ tensor": (lambda x: A @ x, A),
    "array / tensor": (lambda x: A / x, A),
    "NumPy scalar * tensor": (lambda x: np.float64(2) * x, A),
    "add.reduce": (np.add.reduce, A),
    "multiply.reduce": (lambda x: np.multiply.reduce(x, axis=1), A),
    "multiply.outer": (lambda x: np.multiply.outer(x, B), V),
    "add.accumulate": (lambda x: np.add.accumulate(x, axis=1), A),
    "sum": (np.sum, A),
    "sum axis": (lambda x: np.sum(x, axis=0), A),
    "sum keepdims": (lambda x: np.sum(x, axis=(0,), keepdims=True), A),
    "mean": (np.mean, A),
    "prod": (np.prod, A),
    "prod axes": (lambda x: np.prod(x, axis=(0, 1)), A),
    "max": (lambda x: np.max(x, axis=1), A),
    "std": (np.std, A),
    "std ddof": (lambda x: np.std(x, ddof=1, axis=1), A),
    "var": (np.var, A),
    "average": (lambda x: np.average(x, axis=0, weights=V), A),
    "cumsum": (lambda x: np.cumsum(x, axis=0), A),
    "cumsum flat": (np.cumsum, A),
    "concatenate": (lambda x: np.concatenate([x, A]), A),
    "concatenate flat": (lambda x: np.concatenate([x, x], axis=None), A),
    "stack": (lambda x: np.stack([x, A], axis=1), A),
    "vstack": (lambda x: np.vstack([x, B]), A),
    "hstack": (lambda x: np.hstack([x, x]), A),
    "hstack vectors": (lambda x: np.hstack([x, x]), V),
    "column_stack": (lambda x: np.column_stack([x, x]), V),
    "split": (lambda x: np.split(x, 3)[1], A),
    "split at": (lambda x: np.split(x, [1], axis=1)[1], A),
    "tile": (lambda x: np.tile(x, (2, 1)), A),
    "tile vector": (lambda x: np.tile(x, (2, 2)), V),
    "transpose": (np.transpose, B),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), B),
    "moveaxis": (lambda x: np.moveaxis(x, 0, 1), B),
    "reshape": (lambda x: np.reshape(x, (3, -1)), B),
    "ravel": (np.ravel, B),
    "expand_dims": (lambda x: np.expand_dims(x, (0, 2)), A),
    "squeeze": (lambda x: np.squeeze(x[None]), A),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 3)), V),
    "flip": (np.flip, A),
    "flip axis": (lambda x: np.flip(x, 0), A),
    "where": (lambda x: np.where(A > 1, x, 0), A),
    "clip": (lambda x: np.clip(x, 0.2, 0.5), A),
    "dot": (lambda x: np.dot(x, V), A),
    "inner": (lambda x: np.inner(x, B), A),
    "outer": (lambda x: np.outer(x, V), V),
    "vdot": (lambda x: np.vdot(x, A), A),
    "kron": (lambda x: np.kron(x, B), A),
    "tensordot": (lambda x: np.tensordot(x, B, axes=([1], [1])), A),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x, B), A),
    "trace": (np.trace, A),
    "diag of matrix": (np.diag, A),
    "diag of vector": (np.diag, V),
    "tril": (np.tril, A),
    "take": (lambda x: np.take(x, [0, 2], axis=1), A),
    "take flat": (lambda x: np.take(x, [0, 5]), A),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.array([[0], [1], [2]]), 1), A),
    "copy": (np.copy, A),
    "ones_like": (lambda x: x * np.ones_like(x), A),
    "inv": (np.linalg.inv, A),
    "det": (np.linalg.det, A),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], A),
    "solve": (lambda x: np.linalg.solve(x, V), A),
    "cholesky": (lambda x: np.linalg.cholesky(x @ np.transpose(x)), A),
    "norm": (np.linalg.norm, A),
    "norm axis": (lambda x: np.linalg.norm(x, ord=1, axis=0), A),
}


def test_numpys_cholesky_is_not_torchs_old_one(recwarn):
    """No word of ``torch.cholesky`` being deprecated, and ``upper=True`` is Lᴴ of a complex matrix."""
    A = np.array([[3.0, 1 + 1j], [1 - 1j, 4.0]])
    for upper in (False, True):
        np.testing.assert_allclose(np.linalg.cholesky(sg.tensor(A), upper=upper), np.linalg.cholesky(A, upper=upper))
    assert not recwarn.list


@pytest.mark.parametrize("case", CASES)
def test_value_and_gradient(case):
    function, at = CASES[case]
    x = sg.tensor(at, requires_grad=True)
    y = function(x)
    assert isinstance(y, sg.Tensor)
    expected = function(at)
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-12)
    assert tuple(y.shape) == np.shape(expected)
    y.sum().backward()
    direction = RNG.standard_normal(at.shape)
    step = 1e-6
    slope = (np.sum(function(at + step * direction)) - np.sum(function(at - step * direction))) / (2 * step)
    np.testing.assert_allclose(np.sum(x.grad.numpy() * direction), slope, rtol=1e-4, atol=1e-6)


def test_questions_give_plain_answers():
    x = sg.tensor(V, requires_grad=True)
    assert np.shape(x) == (3,)
    assert np.ndim(x) == 1
    assert np.size(x) == 3
    assert np.allclose(x, V)
    assert np.array_equal(x, V)
    assert np.argsort(x).tolist() == np.argsort(V).tolist()
    assert np.isnan(x).tolist() == [False] * 3


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (np.histogram, "np.histogram"),
        (lambda x: np.spacing(x), "np.spacing"),
        (lambda x: np.nansum(x, where=np.array([True, False, True])), "where="),
        (lambda x: np.multiply.at(x, 0, 1.0), "np.multiply.at"),
        (lambda x: np.reshape(x, (3, 1), order="K"), "order='K'"),
    ],
    ids=["histogram", "spacing", "where=", "add.at", "order"],
)
def test_unknown_functions_are_refused(call, named):
    x = sg.tensor(V, requires_grad=True)
    arguments = (x, 3) if named == "np.histogram" else (x,)
    with pytest.raises(UnsupportedFunction) as caught:
        call(*arguments)
    assert named in str(caught.value)
    assert "t.detach().numpy()" in str(caught.value)


def test_an_array_as_out_cannot_carry_a_gradient():
    x = sg.tensor(V, requires_grad=True)
    for call in (
        lambda: np.add(x, 1.0, out=np.zeros(3)),
        lambda: np.sum(x, out=np.zeros(())),
        lambda: np.sum(a=x, out=np.zeros(())),
    ):
        with pytest.raises(AutogradError, match="don't support automatic differentiation.*Give a tensor"):
            call()
    total = np.zeros(3)
    total += sg.tensor(V)
    assert total.tolist() == V.tolist()
    assert np.cumsum(sg.tensor(V), out=total) is total
    assert total.tolist() == np.cumsum(V).tolist()


MASK = np.array([True, False, True])
WRITERS = {
    "sin": lambda x, out: np.sin(x, out=out),
    "sin where": lambda x, out: np.sin(x, out=out, where=MASK),
    "log where": lambda x, out: np.log(x, out=out, where=x > 0.5),
    "add": lambda x, out: np.add(x, x, out=out),
    "widened": lambda x, out: np.multiply(x[:1], 2.0, out=out),
    "itself": lambda x, out: np.multiply(out, x, out=out, where=MASK),
    "clip": lambda x, out: np.clip(x, 0.3, 0.6, out=out),
    "cumsum": lambda x, out: np.cumsum(x, out=out),
    "cumsum by place": lambda x, out: np.cumsum(x, None, None, out),
    "take by place": lambda x, out: np.take(x, [0, 4, -2], None, out, "wrap"),
    "multi_dot": lambda x, out: np.linalg.multi_dot([np.multiply.outer(x, x), x], out=out),
    "sum": lambda x, out: np.sum(np.multiply.outer(x, x), axis=0, out=out),
    "reduce": lambda x, out: np.add.reduce(np.multiply.outer(x, x), out=out),
    "concatenate": lambda x, out: np.concatenate([x[:1], x[:2]], out=out),
    "part": lambda x, out: np.exp(x[:2], out=out[1:]),
    "add.at": lambda x, out: np.add.at(out, [0, 0, 2], x),
    "subtract.at": lambda x, out: np.subtract.at(out, np.array([1, 1]), x[:2]),
}


BY_PLACE = {
    "nanvar": lambda a: np.nanvar(a, 0, None, None, 1),
    "std": lambda a: np.std(a, 1, None, None, 1, True),
    "max": lambda a: np.max(a, 1, None, True),
    "take": lambda a: np.take(a, [5, -4], 1, None, "clip"),
    "clip": lambda a: np.clip(a, 0.3, 0.6, None),
    "quantile": lambda a: np.quantile(a, 0.3, 0, None, False, "lower"),
    "vstack": lambda a: np.vstack(tup=[a, a]),
}


@pytest.mark.parametrize("call", BY_PLACE.values(), ids=BY_PLACE)
def test_arguments_mean_what_numpy_means_by_their_places_and_names(call):
    values = np.outer(V, W)
    found = call(sg.tensor(values, requires_grad=True))
    assert found.shape == call(values).shape
    np.testing.assert_allclose(found.detach().numpy(), call(values), rtol=1e-14)


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_results_are_written_into_tensors_with_their_history(writer):
    x, start = sg.tensor(V, requires_grad=True, name="x"), sg.tensor(W, requires_grad=True, name="w")
    plain, out = W * 2, start * 2
    version = out._version
    writer(V, plain)
    writer(x, out)
    np.testing.assert_allclose(out.detach().numpy(), plain, rtol=1e-14)
    assert out._version > version
    weights = np.array([0.3, -1.0, 2.0])
    (out * sg.tensor(weights)).sum().backward()
    for leaf, at in ((x, V), (start, W)):
        grad = np.zeros(3) if leaf.grad is None else leaf.grad.numpy()
        for k in range(3):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {id(V): V.copy(), id(W): W.copy()}
                moved[id(at)][k] += step
                made = moved[id(W)] * 2
                writer(moved[id(V)], made)
                ends.append(made @ weights)
            assert grad[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


def test_where_without_out_has_zeros_and_no_gradient_where_it_is_false():
    x = sg.tensor([4.0, -1.0, 0.0], requires_grad=True, name="x")
    with np.errstate(all="raise"):
        y = np.sqrt(x, where=x.detach().numpy() > 0)
    y.sum().backward()
    assert y.tolist() == [2.0, 0.0, 0.0]
    assert x.grad.tolist() == [0.25, 0.0, 0.0]
    quotient, rest = np.divmod(x, 3.0, where=MASK)
    assert (quotient.tolist(), rest.tolist()) == ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])


def test_out_and_where_refuse_what_numpy_refuses():
    x = sg.tensor(V, requires_grad=True)
    with pytest.raises(ValueError, match=r"shape \(3,\), and out has \(2,\)"):
        np.sin(x, out=sg.zeros(2))
    with pytest.raises(ValueError, match=r"shape \(\), and out has \(3,\)"):
        np.sum(x, out=sg.zeros(3))
    with pytest.raises(TypeError, match="can't be cast"):
        np.sin(x, out=sg.zeros(3, dtype=sg.int64))
    with pytest.raises(TypeError, match="mask of booleans"):
        np.sin(x, where=np.ones(3))
    with pytest.raises(ValueError, match="initial="):
        np.max(x, where=MASK)
    with pytest.raises(ValueError, match="does not fit"):
        np.sum(x, where=np.ones((2, 3), dtype=bool))
    with pytest.raises(RuntimeError, match="leaf Variable"):
        np.sin(x, out=x)


def test_what_was_written_over_every_entry_is_the_formula():
    x, out = sg.tensor(V, requires_grad=True, name="x"), sg.zeros(3, dtype=sg.float64)
    np.sin(x, out=out)
    assert str(out.expr) == "sin(x)"
    assert str(sg.zeros(2, 3).copy_(x * 2).expr) == "2*outer(ones(2), x)"
    held = sg.zeros(3, dtype=sg.float64)
    held[0] = x[1]
    assert str(held.expr) == "cat(unsqueeze(x[1], dim=0), held[1:], dim=0)"  # the others are those of held


def test_bits_of_integers_are_not_taken_for_truth_values():
    assert np.bitwise_and(np.array([1, 2]), sg.tensor([3, 1])).tolist() == [1, 0]
    assert np.invert(sg.tensor([0, 5])).tolist() == [-1, -6]
    assert np.left_shift(sg.tensor([1, 5]), 2).tolist() == [4, 20]
    assert np.bitwise_and(np.array([True, True]), sg.tensor([True, False])).tolist() == [True, False]


FOLLOWED = {
    "ufuncs": lambda x: np.sin(x) * np.ones(3) + np.float64(2) * np.hypot(x, 1.0),
    "reductions": lambda x: np.sum(x * x) + np.add.reduce(x) + np.linalg.norm(x),
    "shapes": lambda x: np.stack([np.roll(x, 1), np.cumsum(x)]) @ np.concatenate([x[:1], x[1:]]),
    "choices": lambda x: np.where(x > 0.35, x**2, np.sqrt(x))[np.argsort(-x)],
    "matrices": lambda x: np.linalg.solve(np.eye(3) + np.outer(x, x), x) * np.ndim(x),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_forward_mode_follows_numpy_functions(name):
    f, x = FOLLOWED[name], np.array([0.3, 0.4, 0.7])
    rows = sg.func.jacrev(f)(x).numpy()
    np.testing.assert_allclose(sg.func.jacfwd(f)(x), rows, rtol=1e-13)
    np.testing.assert_allclose(sg.func.jvp(f, (x,), (x,))[1], rows @ x, rtol=1e-13)
    inner = sg.func.grad(lambda x: np.sum(f(x) ** 2))
    hessian = sg.func.jacrev(inner)(x).numpy()
    np.testing.assert_allclose(sg.func.jvp(inner, (x,), (x,))[1], hessian @ x, rtol=1e-12)
    np.testing.assert_allclose(sg.func.jacfwd(inner)(x), hessian, rtol=1e-12, atol=1e-13)


def test_forward_mode_refuses_to_write_into_arrays():
    x, out = np.array([0.3, 0.4]), np.zeros(2)
    for write in (lambda x: np.sin(x, out=out), lambda x: np.cumsum(x, out=out), lambda x: np.add.at(out, [0, 1], x)):
        with pytest.raises(AutogradError, match="the tangent of a value that forward mode follows would be lost"):
            sg.func.jvp(write, (x,), (x,))
    assert not out.any()
