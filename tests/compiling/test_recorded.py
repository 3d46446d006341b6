"""Programs of what was recorded: several results of one run, and calls that do not fit."""

from __future__ import annotations

import math
import runpy

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.errors import ArgumentError


def test_what_backward_left_is_one_program(tmp_path):
    """A loss and its gradients, by name, with the parts that they share computed once."""
    rng = np.random.default_rng(0)
    X = sg.tensor(rng.normal(size=(8, 3)), name="X")
    w = sg.tensor(rng.normal(size=3), requires_grad=True, name="w")
    b = sg.tensor(rng.normal(size=()), requires_grad=True, name="b")
    loss = sg.log(1 + sg.exp(X @ w + b)).sum()
    loss.backward()
    program = sg.compile({"loss": loss, "slopes": (w.grad, b.grad)}, ["w", "X", "b"])
    found = program(w.detach().numpy(), X.numpy(), b.detach().numpy())
    assert np.allclose(found["loss"], loss.item(), rtol=1e-14)
    assert np.allclose(found["slopes"][0], w.grad.numpy(), rtol=1e-13)
    assert np.allclose(found["slopes"][1], b.grad.item(), rtol=1e-14)
    assert program.source.count("X @ w") == 1
    program.save(tmp_path / "step.json")
    again = sg.compiler.load(tmp_path / "step.json")
    assert again(w.detach().numpy(), X.numpy()[:5], 0.5)["slopes"][0].shape == (3,)

    (g,) = sg.autograd.grad((w**3).sum(), w, create_graph=True)
    (h,) = sg.autograd.grad(g.sum(), w)
    first, second = sg.compile([g, h])(np.array([1.0, 2.0, 3.0]))
    assert np.allclose(first, [3, 12, 27])
    assert np.allclose(second, [6, 12, 18])
    for wrong in ([loss, None], {"a": 1}, ("x", loss)):
        with pytest.raises(ArgumentError, match="takes tensors in it"):
            sg.compile(wrong)
    with pytest.raises(ArgumentError, match="container of tensors"):
        sg.compile([])


def test_wrong_calls_are_told_in_words():
    program = sg.compile(sg.func.grad(lambda w, X: (X @ w).sum()), np.ones(3), np.ones((4, 3)))
    with pytest.raises(ArgumentError, match="takes 2 arguments, but 3 were given"):
        program(np.ones(3), np.ones((4, 3)), 1)
    for values in (np.array([1, 2, "a"], object), np.array(["a", "b"])):
        with pytest.raises(ArgumentError, match="w is an array of dtype"):
            program(values, np.ones((4, 3)))


def gram(A):
    n, m = A.shape
    return (A.T @ A if n > m else A @ A.T).pow(3).sum()


def capped(A):
    return (A**2).sum() * min(A.shape[0], 50)


def rooted(A):
    return (A**2).sum() / math.sqrt(A.shape[0])


def halved(A):
    n = len(A) // 2
    return (A[:n] * A[n : 2 * n]).sum()


def logged(A):
    return (A**2).sum() * np.log(A.shape[0])


def at_least(A):
    return (A**2).sum() / np.maximum(A.shape[0], 5)


def middle(A):
    return A[int(A.shape[0] / 2)].sum() * round(A.shape[1] / 2)


def weighed(A):
    return (A * np.array(A.shape)[0]).sum() / np.sum(A.shape)


def spread(A):
    return (A * (np.ones(1) * A.shape[0])).sum()


def outcome(call, x):
    try:
        return call(x)
    except ValueError as error:  # ArgumentError is one
        return error


PARTS = {
    "narrow": lambda A: A.narrow(0, A.shape[0] // 2, 1).sum(),
    "topk": lambda A: A.topk(A.shape[0] // 2, 0)[0].sum(),
    "roll": lambda A: (A.roll(A.shape[0] // 2, 0) * A).sum(),
    "triu": lambda A: A.triu(A.shape[0] // 2 - 2).sum(),
    "unfold": lambda A: A.unfold(0, A.shape[0] // 2, 1).std(),
    "reshape": lambda A: A.repeat(2, 1).reshape(A.shape[0] // 2, -1)[0].sum(),
    "repeat": lambda A: A.repeat(A.shape[0] // 2, 1).sum(),
    "pad": lambda A: F.pad(A, (A.shape[0] // 2, 1), value=2.0).sum(),
    "fft": lambda A: sg.fft.fft(A, A.shape[0] // 2, 0).abs().sum(),
    "index": lambda A: A.index_select(0, sg.tensor([A.shape[0] // 2])).sum(),
    "half": lambda A: A[: A.shape[0] // 2].sum() + A[A.shape[0] // 3 :].sum(),
    "arange": lambda A: A.sum() * sg.arange(A.shape[0] // 2).sum(),
    "linspace": lambda A: A.sum() * sg.linspace(0, 1, A.shape[0] // 2).sum(),
    "zeros": lambda A: sg.cat([A[:, 0], sg.zeros(A.shape[0] // 2)]).mean(),
    "full": lambda A: (A * sg.full((1,), A.shape[0] / 2)).sum(),
    "a number": lambda A: A.sum() * sg.tensor(A.shape[0]) + sg.tensor([A.shape[1] / 2.0]).sum(),
    "matrix_power": lambda A: sg.linalg.matrix_power(A.T @ A, A.shape[0] // 2).sum(),
    "norm": lambda A: sg.linalg.vector_norm(A, A.shape[0] / 2),
    "chunk": lambda A: (lambda a: (a[0] ** 2).sum() + a[1].sum())(A.chunk(2)),
    "split": lambda A: sum(part.sum() ** 2 for part in A.split(2)),
    "np.array_split": lambda A: sum(part.sum() ** 2 for part in np.array_split(A, 2)),
    "rows": lambda A: sum(row.sum() ** 2 for row in A),
    "unbind": lambda A: sum(k * row.sum() for k, row in enumerate(A.unbind(0))),
    "every other": lambda A: sum(A[i, 0] for i in range(0, A.shape[0], 2)),
    "a number of NumPy's": lambda A: A.sum() * np.float64(2.5) * A.shape[0],
    "whole numbers below": lambda A: A[: math.floor(A.shape[0] / 2)].sum(),
    "zip": lambda A: sum((r * c.sum()).sum() for r, c in zip(A, A.T, strict=False)),
}


INSIDE = {
    "rfft": lambda A: sg.fft.rfft(A, dim=0).abs().pow(2).sum(),
    "irfft": lambda A: sg.fft.irfft(sg.fft.fft(A, dim=0), dim=0).pow(3).sum(),
    "hfft": lambda A: sg.fft.hfft(sg.fft.fft(A, dim=0), dim=0).pow(2).sum(),
    "fft of more": lambda A: sg.fft.fft(A, 9, 0).abs().pow(2).sum(),
    "fft of fewer": lambda A: sg.fft.fft(A, 3, 0).abs().pow(2).sum(),
    "fftshift": lambda A: (sg.fft.fftshift(A) * A * A).sum(),
    "stft": lambda A: sg.stft(A[:, 0], 4, 2, window=sg.ones(4), return_complex=True).abs().sum(),
    "cov": lambda A: sg.cov(A.T).pow(2).sum(),
    "corrcoef": lambda A: sg.corrcoef(A.T).pow(2).sum() * A.sum(),
    "quantile": lambda A: sg.quantile(A, 0.3, 0).sum(),
    "nanquantile": lambda A: sg.nanquantile(A, 0.7) * A.sum(),
    "first chunk": lambda A: A.chunk(2)[0].pow(2).sum(),
    "second chunk": lambda A: A.chunk(4)[1].pow(2).sum(),
    "last part": lambda A: A.split(2)[-1].pow(2).sum(),
    "part of the listed": lambda A: A.split([2, 4])[1].pow(2).sum(),
    "tensor_split": lambda A: A.tensor_split(3)[1].pow(2).sum(),
    "cut at": lambda A: A.tensor_split((1, 3))[2].pow(2).sum(),
    "last of unbind": lambda A: A.unbind(0)[-1].pow(2).sum(),
    "select": lambda A: A.select(0, -2).pow(2).sum(),
    "diagonal": lambda A: sg.diagonal(A @ A.T, 1).sum() ** 2 + sg.diagonal(A @ A.T, -2).sum() + sg.diagonal(A, 1).sum(),
    "max_pool": lambda A: F.max_pool1d(A.T, 3, 2, 1).pow(2).sum() + F.max_pool1d(A.T[:, 1:], 2).sum(),
    "max_pool, hanging over": lambda A: F.max_pool1d(A.T, 5, 2, ceil_mode=True).pow(2).sum(),
    "avg_pool": lambda A: F.avg_pool2d(A[None], 2).pow(2).sum() + F.avg_pool1d(A.T[:, 1:], 2).pow(2).sum(),
    "avg_pool of what is inside": lambda A: F.avg_pool1d(A.T, 3, 1, 1, count_include_pad=False).pow(2).sum(),
    "adaptive_max_pool": lambda A: F.adaptive_max_pool1d(A.T, 2).pow(2).sum(),
    "interpolate": lambda A: F.interpolate(A.T[None], scale_factor=2.0, mode="nearest").pow(2).sum(),
    "reflect": lambda A: F.pad(A.T, (2, 1), mode="reflect").pow(3).sum(),
    "replicate": lambda A: F.pad(A.T, (2, 1), mode="replicate").pow(3).sum(),
    "cut by pad": lambda A: F.pad(A.T, (-1, -2)).pow(3).sum(),
    "pdist": lambda A: F.pdist(A).sum(),
    "combinations": lambda A: sg.combinations(A[:, 0], 3).prod(1).sum(),
    "vander": lambda A: sg.vander(A[:, 0]).sum(),
    "label smoothing": lambda A: F.cross_entropy(A, sg.zeros(A.shape[0], dtype=sg.int64), label_smoothing=0.2),
    "labels of probabilities": lambda A: F.cross_entropy(A, A.softmax(1)),
    "batchmean": lambda A: F.kl_div(A.log_softmax(1), (A * A).softmax(1), reduction="batchmean"),
    "masked_select": lambda A: sg.masked_select(A, A > 0.5).pow(2).sum(),
}


@pytest.mark.parametrize("how", INSIDE)
@pytest.mark.filterwarnings("ignore")
def test_numbers_that_functions_make_of_sizes_hold_for_the_program(how):
    """Half a spectrum, n - 1 of a covariance, ranks of quantiles, what windows leave: they were those of the run."""
    f, rng = INSIDE[how], np.random.default_rng(0)
    first = rng.random((6, 4))
    A = sg.tensor(first, requires_grad=True, name="A")
    (g,) = sg.autograd.grad(f(A), A, create_graph=True)
    programs = [(sg.compile(f(A), ["A"]), f), (sg.compile(g, ["A"]), sg.func.grad(f)) if g.requires_grad else None]
    for program, function in filter(None, programs):
        assert np.allclose(program(first), function(sg.tensor(first)).detach())
        for shape in ((5, 4), (7, 4), (8, 4), (9, 8), (8, 5), (12, 4)):
            x = rng.random(shape)
            found = outcome(program, x)
            assert isinstance(found, (ValueError, IndexError)) or np.allclose(found, function(sg.tensor(x)).detach())


@pytest.mark.parametrize("how", PARTS)
def test_sizes_that_say_which_parts_are_taken_hold_for_the_program(how):
    f, rng = PARTS[how], np.random.default_rng(0)
    program = sg.compile(f(sg.tensor(rng.random((6, 4)), requires_grad=True, name="A")), ["A"])
    for same in rng.random((2, 6, 4)):
        assert np.allclose(program(same), f(sg.tensor(same)).item())
    for shape in ((5, 4), (9, 8), (8, 4), (14, 6)):
        x = rng.random(shape)
        found = outcome(program, x)
        assert isinstance(found, (ValueError, IndexError)) or np.allclose(found, f(sg.tensor(x)).item())


@pytest.mark.parametrize(
    "f",
    [
        lambda A: A[A.shape[0] - 1].sum() * A[..., A.shape[1] - 2].sum(),
        lambda A: (A[1 : A.shape[0]] - A[: A.shape[0] - 1]).pow(2).sum(),
        lambda A: A[A.shape[0] - 3 :, None, 1 : A.shape[1] - 1].exp().sum(),
        lambda A: A[:3].sum() * A[0, 1],
    ],
    ids=range(4),
)
def test_places_counted_from_the_end_stay_so_in_programs(f):
    rng = np.random.default_rng(0)
    program = sg.compile(f(sg.tensor(rng.random((6, 4)), requires_grad=True, name="A")), ["A"])
    for shape in ((6, 4), (5, 3), (9, 8)):
        x = rng.random(shape)
        assert np.allclose(program(x), f(sg.tensor(x)).item())


ASKING = [gram, capped, rooted, halved, logged, at_least, middle, weighed, spread, lambda A: (A**2).sum() / len(A)]


@pytest.mark.parametrize("f", ASKING)
def test_what_a_run_asked_of_sizes_holds_for_the_program_of_its_graph(f, tmp_path):
    """Numbers at sizes where the function would have computed others were silently those of the recorded run."""
    rng = np.random.default_rng(0)
    A = sg.tensor(rng.random((6, 4)), requires_grad=True)
    program = sg.compile(f(A), ["A"], name="f")
    assert np.allclose(program(A.detach().numpy()), f(A).item())
    program.save(tmp_path / "f.py")
    function = runpy.run_path(str(tmp_path / "f.py"))["f"]
    refused = 0
    for shape in ((5, 4), (7, 5), (4, 6), (60, 4), (150, 2)):
        x = rng.random(shape)
        for call in (program, function):
            found = outcome(call, x)
            if isinstance(found, ValueError):
                refused += 1
                assert "holds where" in str(found)
            else:
                assert np.allclose(found, f(sg.tensor(x)).item())
    assert refused


def test_sizes_that_stay_sizes_leave_the_program_of_a_graph_open():
    A = sg.tensor(np.ones((6, 4)), requires_grad=True)
    n, m = A.shape
    program = sg.compile((A**2).sum() / n + (m - 1) * A.mean() / n**0.5, ["A"])
    x = np.random.default_rng(0).random((3, 5))
    assert np.allclose(program(x), (x**2).sum() / 3 + 4 * x.mean() / 3**0.5)


@pytest.mark.parametrize(
    "f",
    [
        lambda A: A.sum() / np.sqrt(A.shape[0]),
        lambda A: A.sum() / np.sqrt(A.numel()),
        lambda A: A.sum() / np.prod(A.shape) + A.mean() * np.prod(A.shape[1:]),
        lambda A: A.sum() * np.multiply(0.5, A.shape[0]) + A.mean() * np.true_divide(2.0, A.shape[1]),
        lambda A: A.sum() * math.floor(A.shape[0] / 2) + math.ceil(A.shape[1] / 2) / np.multiply(A.shape[1], 3),
    ],
    ids=range(5),
)
def test_what_numpy_makes_of_sizes_follows_them(f):
    A = sg.tensor(np.random.default_rng(0).random((6, 4)), requires_grad=True)
    program = sg.compile(f(A), ["A"])
    for shape in ((6, 4), (5, 3), (9, 8)):
        x = np.random.default_rng(1).random(shape)
        assert np.allclose(program(x), f(sg.tensor(x)).item())
    assert "sqrt(n" in str((A.sum() / np.sqrt(A.shape[0])).expr)


def test_sizes_among_numbers_are_numbers_for_numpy():
    n, m = sg.zeros(2, 3).shape
    with np.errstate(divide="ignore"):
        assert np.float64(1) / sg.zeros(0).shape[0] == np.inf
    assert (np.sqrt(n), np.log(n), np.maximum(n, m)) == (2**0.5, np.log(2), 3)
    assert (round(m / 2), round(m / 2, 1), int(m / 2), math.floor(m / 2), math.ceil(m / 2)) == (2, 1.5, 1, 1, 2)
    assert (np.ones(2, np.float32) * n).dtype == (np.float32(3) * m).dtype == np.float32
    shape = sg.zeros(n, m).shape
    assert (np.sum(shape), np.max(shape), np.prod(shape), np.prod(shape, dtype=float)) == (5, 3, 6, 6.0)
    assert (np.array(shape).tolist(), np.concatenate([shape, shape]).tolist()) == ([2, 3], [2, 3, 2, 3])
    assert np.tile([1, 2], shape).shape == (2, 6)
    assert np.array_equal(shape, (2, 3))
    assert np.multiply(n, sg.ones(2)).tolist() == [2, 2]


def test_lengths_of_other_tensors_are_not_asked_of_a_graph():
    other = sg.ones(6)
    assert len(other) == 6
    A = sg.tensor(np.ones(6), requires_grad=True)
    assert sg.compile((A**2).sum(), ["A"])(np.ones(4)) == 4


def halvings(A):
    while (A**2).sum() > 0.1:
        A = A / 2
    return A.sum()


def over_its_spread(A):
    low, high = min(A.flatten().tolist()), A.max().item()
    return (A / (high - low)).sum()


def gathered(A):
    sizes = []
    for row in A:
        sizes.append(row.abs().sum().item())
    return A.sum() * sum(sizes)


def asked_of_a_number(A):
    total = float(A.sum())
    return A.sum() if total > 0 else A.prod()


def with_offsets(A):
    table = {"offset": A.mean().item()}
    return ((A + sg.full(A.shape, 2 * table["offset"], dtype=sg.float64)) ** 2).sum()


CHOOSING = {
    "computed": lambda A: (A / (A.max().item() + 1)).sum(),
    "function of a number": lambda A: A.sum() * math.exp(-A.sum().item()),
    "computed of several": over_its_spread,
    "sum of many": gathered,
    "asked": asked_of_a_number,
    "put into a constant": with_offsets,
    "branch": lambda A: A.sum() if A.sum() > 0 else A.prod(),
    "while": halvings,
    "number": lambda A: (A / A.max().item()).sum(),
    "place": lambda A: A[int(A[:, 0].argmax())].sum(),
    "mask": lambda A: A[A > 0].sum(),
    "whole number": lambda A: sum(A[0, 0] * k for k in range(int(A.abs().max() * 3))),
    "list": lambda A: (A / A.tolist()[0][0]).sum(),
    "places": lambda A: A[sg.nonzero(A > 0)[:, 0]].sum(),
    "filled in turn": lambda A: (A.masked_scatter(A > 0, A) ** 3).sum(),
    "repeated": lambda A: (A.repeat_interleave((A[:, 0] > 0).long(), 0) ** 3).sum(),
    "repeated places": lambda A: (A[sg.repeat_interleave((A[:, 0] > 0).long())] ** 3).sum(),
    "bytes": lambda A: (A[(A[:, 0] > 0).byte()] ** 3).sum(),
    "cuts": lambda A: (sg.tensor_split(A, A[:, 0].argsort()[:1])[0] ** 3).sum(),
    "different ones": lambda A: (sg.unique(sg.round(A)) ** 3).sum(),
    "next ones": lambda A: (sg.unique_consecutive(sg.round(A)) ** 3).sum(),
    "nearly equal": lambda A: A.sum() if sg.allclose(A, A.flip(0), atol=2.0) else A.prod(),
    "equal": lambda A: A.sum() if sg.equal(sg.round(A[0]), sg.round(A[1])) else A.prod(),
    "whole basis": lambda A: sg.linalg.qr(A, "complete")[0].sum() ** 2,
    "whole bases": lambda A: sg.linalg.svd(A)[0].abs().sum(),
    "counts": lambda A: (sg.bincount(sg.round(A.abs()).long().flatten()) ** 2).sum() * A.sum(),
    "heights": lambda A: (sg.histc(A, 4, -2, 2) ** 2).sum() * A.sum(),
    "scaled": lambda A: A.abs().sum() * (1 if A[0, 0] > 0 else 2),
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar")
@pytest.mark.parametrize("how", CHOOSING)
def test_a_recorded_program_is_the_way_that_was_taken(how, tmp_path):
    """Other values that would have gone another way were computed the recorded way, silently."""
    f, rng = CHOOSING[how], np.random.default_rng(0)
    x = rng.normal(size=(3, 2))
    program = sg.compile(f(sg.tensor(x, requires_grad=True, name="A")), name="f")
    assert np.allclose(program(x), f(sg.tensor(x)).item())
    program.save(tmp_path / "f.py")
    function = runpy.run_path(str(tmp_path / "f.py"))["f"]
    refused = 0
    for _ in range(12):
        y = x * rng.choice([-1, 1, 1, 5], x.shape)
        for call in (program, function):
            found = outcome(call, y)
            refused += isinstance(found, ValueError)
            assert isinstance(found, ValueError) or np.allclose(found, f(sg.tensor(y)).item())
    assert refused


@pytest.mark.parametrize("n", [60, 2000])
@pytest.mark.parametrize("deep", [0, 80])
def test_masks_of_many_entries_and_of_deep_graphs_hold_for_the_program(n, deep):
    """Of more than 48 entries, or operations, other values were computed with the mask of the run, silently."""

    def f(x):
        for _ in range(deep):
            x = x * 1.01
        return (x[x > 0.3] ** 2).sum()

    x = np.linspace(-1, 1, n)
    program = sg.compile(f(sg.tensor(x, requires_grad=True, name="x")))
    np.testing.assert_allclose(program(x), f(sg.tensor(x)).numpy(), rtol=1e-12)
    with pytest.raises(ValueError, match="recorded with other values"):
        program(-x)


def test_different_entries_and_counts_follow_the_values():
    x = np.array([3.0, 1.0, 2.0, 1.0])

    def recorded(f):
        return sg.compile(f(sg.tensor(x, requires_grad=True, name="x")))

    np.testing.assert_array_equal(recorded(sg.unique)(np.array([1.0, 8.0, 1.0, 9.0])), [1, 8, 9])
    counts = recorded(lambda x: sg.bincount(x.long()) * x)
    np.testing.assert_array_equal(counts(np.array([3.0, 3.0, 3.0, 0.0])), [3, 0, 0, 0])
    rank = recorded(lambda x: sg.linalg.matrix_rank(x.reshape(2, 2)) * x.sum())
    assert (rank(x), rank(np.ones(4))) == (14, 4)


def test_numbers_that_are_only_looked_at_do_not_choose():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    loss = (x**2).sum()
    assert f"{loss.item():.1f}" == "5.0"
    losses, total = [], 0.0
    losses.append(loss.item())
    total += loss.item() * 2
    assert total / 2 == losses[0]
    print(f"{total / 2:.2f}", str(float(loss.detach())))
    program = sg.compile(loss.sqrt(), name="f")
    assert program(np.array([3.0, 4.0])) == 5


def test_losses_of_a_training_loop_are_no_condition_of_a_later_graph(capsys):
    """The loss that was looked at after a step is that of the weights before it."""
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    best, total = 9.0, 0.0
    for step in range(3):
        loss = (x**2).sum()
        (slope,) = sg.autograd.grad(loss, x)
        with sg.no_grad():
            x -= 0.1 * slope
        total += loss.item()
        if loss.item() < best:
            best = loss.item()
        print(f"{step}: {best:.3f} {total / (step + 1):.3f}")
    program = sg.compile((x**3).sum() * 0.5, ["x"])
    assert program(np.array([1.0, 1.0])) == 1


def test_lengths_that_are_only_shown_or_asserted_leave_a_graph_open(capsys):
    x, w = sg.tensor(np.ones((3, 2)), name="x"), sg.tensor(np.ones(2), requires_grad=True, name="w")
    assert len(x) == 3
    print(f"{len(x)} rows", len(x))
    program = sg.compile((x @ w).sum(), ["x", "w"])
    assert program(np.ones((5, 2)), np.ones(2)) == 10


def recorded_gradient(f, A):
    """The gradient as a graph of its own."""
    return sg.autograd.grad(f(A), A, create_graph=True)[0]


@pytest.mark.parametrize(
    "f",
    [
        lambda A: ((A[1:] - A[:-1]) ** 2).mean(),
        lambda A: F.pad(A, (2, 1)).exp().mean(),
        lambda A: A.repeat(2, 1).exp().mean(0).sum(),
        lambda A: (A[:, None] * A).flatten().exp().mean(),
        lambda A: A[1:].softmax(1).var(0).sum(),
    ],
    ids=range(5),
)
def test_numbers_of_gradients_follow_sizes_that_the_program_composes(f):
    """The gradient of a mean over n - 1 rows divided by the number of the recorded run."""
    rng = np.random.default_rng(0)
    program = sg.compile(recorded_gradient(f, sg.tensor(rng.random((6, 4)), requires_grad=True, name="A")), ["A"])
    for shape in ((6, 4), (5, 3), (9, 8)):
        A = sg.tensor(rng.random(shape), requires_grad=True)
        assert np.allclose(program(A.detach().numpy()), recorded_gradient(f, A).detach().numpy(), rtol=1e-12)


def test_a_number_of_windows_is_not_the_length_of_a_kernel_that_is_as_long():
    """At five rows there are three windows of three entries: at four, the gradient was that of another kernel."""

    def f(A):
        kernel = sg.ones(1, 1, 3, 3, dtype=A.dtype)
        return F.conv2d(A[None, None], kernel, padding=1, stride=2).exp().mean()

    rng = np.random.default_rng(0)
    program = sg.compile(recorded_gradient(f, sg.tensor(rng.random((5, 7)), requires_grad=True, name="A")), ["A"])
    for shape in ((5, 7), (4, 7), (8, 9)):
        A = sg.tensor(rng.random(shape), requires_grad=True)
        try:
            found = program(A.detach().numpy())
        except ValueError:
            assert shape != (5, 7)
        else:
            assert np.allclose(found, recorded_gradient(f, A).detach().numpy(), rtol=1e-12)


def test_labels_of_all_but_the_first_row_are_as_many_as_these():
    """Their length was a letter of its own, which did not fit: the gradient had neither a formula nor a program."""
    rng = np.random.default_rng(0)
    x = sg.tensor(rng.random((5, 7)), requires_grad=True, name="x")
    labels = sg.tensor([0, 1, 2, 3], name="labels")
    loss = F.cross_entropy(x[1:], labels)
    loss.backward()
    assert r"\frac{1}{n - 1}" in x.grad.latex()
    program = sg.compile(x.grad, ["x", "labels"])
    other, rows = sg.tensor(rng.random((9, 4)), requires_grad=True), rng.integers(0, 4, 8)
    F.cross_entropy(other[1:], sg.tensor(rows)).backward()
    assert np.allclose(program(other.detach(), rows), other.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("shape", [(8, 8), (12, 11), (5, 7)])
def test_second_derivatives_of_strided_convolutions_have_programs(shape):
    """The derivative did not fit the letters of the sizes, and no program was made."""

    def curvature(A):
        kernel = sg.ones(1, 1, 3, 3, dtype=A.dtype)
        slope = sg.func.grad(lambda x: F.conv2d(x[None, None], kernel, padding=1, stride=2).exp().mean())
        return sg.func.grad(lambda x: (slope(x) ** 2).sum())(A)

    A = sg.tensor(np.random.default_rng(0).random(shape))
    assert np.allclose(sg.compile(curvature, A)(A), curvature(A).numpy(), rtol=1e-9)


@np.errstate(all="ignore")
def test_gradients_that_were_found_another_way_know_their_constants():
    """Where e^z overflowed, c was an unknown c1 in the formula: the program took it for a number and ignored c."""
    c, z = np.array([0.3, 0.7, -0.4]), np.array([1000.0, 999.0, 998.0])
    weights, x = sg.tensor(c, name="c"), sg.tensor(z, name="z", requires_grad=True)
    shares = sg.exp(x) / sg.exp(x).sum()
    (g,) = sg.autograd.grad((weights * shares).sum(), x, create_graph=True)
    assert str(g.expr) == "(c - (c @ softmax(z, dim=0)))*softmax(z, dim=0)"
    program = sg.compile(g, ["z", "c"])
    for other in (c, c[::-1].copy(), c**2):
        expected = sg.func.grad(lambda z, c: (c * sg.softmax(z, 0)).sum())(z, other)
        np.testing.assert_allclose(program(z, other), expected, rtol=1e-13)


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_that_depend_on_nothing_have_the_sizes_of_their_tensors(recorded):
    """A recorded one had the entries of its run for arguments of any length."""
    x = sg.tensor(np.ones(5), requires_grad=True, name="x")
    (slope,) = sg.autograd.grad((x * 2).sum(), x, create_graph=recorded)
    assert sg.compile(slope, ["x"])(np.ones(3)).tolist() == [2, 2, 2]


def test_medians_of_rows_and_tensors_of_sizes_hold_for_the_length_of_the_run():
    """The middle of four was taken of seven, and the logarithm of four stood for that of any length."""
    rng = np.random.default_rng(0)
    for f in (
        lambda A: A.median(1).values.sum(),
        lambda A: A.sum() * sg.log(sg.tensor(A.shape[1] * 1.0, dtype=sg.float64)),
        lambda A: A.sum() * sg.tensor(A.shape[1], dtype=sg.float64),
    ):
        program = sg.compile(f(sg.tensor(rng.random((5, 4)), requires_grad=True, name="A")), ["A"])
        same = rng.random((5, 4))
        assert np.isclose(program(same), f(sg.tensor(same)).item())
        with pytest.raises(ValueError, match="holds where|compiled for"):
            program(rng.random((5, 7)))


def test_numbers_taken_out_of_a_constant_that_is_an_argument_are_those_of_the_run():
    """Labels of which Python made a number: other ones were computed with the number of the run, silently."""
    x, t = sg.tensor(np.ones(3), requires_grad=True, name="x"), sg.tensor([0, 3, 1], name="t")
    program = sg.compile(x.sum() * sum(t.tolist()), ["x", "t"])
    assert program(np.ones(3), np.array([0, 3, 1])) == 12
    with pytest.raises(ValueError, match="holds where"):
        program(np.ones(3), np.array([1, 2, 3]))


def test_numbers_taken_out_where_no_file_tells_what_becomes_of_them_are_told():
    """At Python's prompt, and in what ``exec`` runs, there is no text to read."""
    around = {"sg": sg, "x": sg.tensor(np.array([1.0, 2.0, 3.0]), requires_grad=True, name="x")}
    exec(compile("y = x * (x.max().item() + 1)", "a prompt", "exec"), around)
    with pytest.warns(UserWarning, match="taken out of a tensor at a prompt:1, and no file tells what becomes of it"):
        sg.compile(around["y"], ["x"])


def test_lists_of_labels_that_are_constants_are_those_of_the_run():
    """Columns that list nothing are left out, also of labels with a name: 100 lists of 1,000 took 0.7 s."""
    x = sg.tensor(np.random.default_rng(0).random((2, 40)), requires_grad=True, name="x")
    labels = sg.tensor([[0, 3, 7, *[-1] * 37], [1, -1, 5, *[-1] * 37]], name="labels")
    loss = F.multilabel_margin_loss(x, labels)
    program = sg.compile(loss, ["x", "labels"])
    values = np.random.default_rng(1).random((2, 40))
    wanted = F.multilabel_margin_loss(sg.tensor(values), labels)
    assert np.isclose(program(values, labels.numpy()), wanted.item())
    with pytest.raises(ValueError, match="holds where"):
        program(values, labels.numpy()[::-1])
