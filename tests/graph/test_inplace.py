"""In-place operations, views and version counters, stated once and held by symgrad and by torch."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.leaves import node, values


@pytest.fixture(params=["symgrad", pytest.param("torch", marks=pytest.mark.peer)])
def t(request):
    if request.param == "symgrad":
        return symgrad
    return pytest.importorskip("torch", reason="torch, the referee of these statements, is not installed")


def leaf(t, *shape):
    size = int(np.prod(shape))
    return t.tensor(np.arange(1.0, 1 + size).reshape(shape), requires_grad=True)


# ------------------------------------------------------------------------------------------ views


def test_a_change_of_the_base_shows_in_its_views(t):
    x = leaf(t, 3)
    y = x * 2
    first = y[0]
    y.mul_(3)
    assert first.item() == 6.0
    first.backward()
    assert values(x.grad) == [6.0, 0.0, 0.0]


def test_a_change_of_a_view_shows_in_the_base_and_other_views(t):
    x = leaf(t, 2, 3)
    y = x * 2
    turned = y.T
    y[0][1].mul_(5)
    assert values(turned) == [[2.0, 8.0], [20.0, 10.0], [6.0, 12.0]]
    assert node(y) == "CopySlices"
    (turned * turned).sum().backward()
    assert values(x.grad) == [[8.0, 400.0, 24.0], [32.0, 40.0, 48.0]]


@pytest.mark.parametrize(
    "cut",
    [
        lambda y: y.T[1],
        lambda y: y.diagonal(),
        lambda y: y.view(-1)[2:7:2],
        lambda y: y.unsqueeze(0)[:, 1:],
        lambda y: y.select(1, 2),
        lambda y: y.narrow(0, 1, 2),
        lambda y: y.permute(1, 0)[0],
        lambda y: y.expand(1, 3, 3)[0, 1],
        lambda y: y[1].unsqueeze(1).squeeze(1),
    ],
    ids=range(9),
)
def test_gradients_through_changed_views(cut):
    """Against the derivative by differences: there a view of an array is changed."""
    start = np.arange(1.0, 10.0).reshape(3, 3)

    def changed(array):
        y = symgrad.tensor(array * 2)
        cut(y).mul_(3)
        return (values_of(y) ** 2).sum()

    def values_of(tensor):
        return tensor.numpy()

    x = symgrad.tensor(start, requires_grad=True)
    y = x * 2
    cut(y).mul_(3)
    (y * y).sum().backward()
    step = 1e-6
    for k in np.ndindex(3, 3):
        bump = np.zeros((3, 3))
        bump[k] = step
        slope = (changed(start + bump) - changed(start - bump)) / (2 * step)
        assert x.grad.numpy()[k] == pytest.approx(slope, rel=1e-6)


def test_changed_parts_of_complex_numbers(t):
    x = t.tensor([1 + 2j, 3j], dtype=t.complex128, requires_grad=True)
    y = x * 2
    y.real.mul_(3)
    y.imag.mul_(0.5)
    (y * y.conj()).real.sum().backward()
    assert values(y) == [6 + 2j, 3j]
    assert values(x.grad) == [72 + 4j, 6j]


def test_base(t):
    y = leaf(t, 2, 2) * 1
    part = y.T[0]
    assert part._base is y
    assert part._is_view()
    assert y._base is None
    assert not y.detach()._is_view()


def test_a_constant_that_received_a_result(t):
    c = t.zeros(3, dtype=t.float64)
    x = leaf(t, 3)
    c[0] = x[1] * x[2]
    c[1:] = x[:2] ** 2
    c.sum().backward()
    assert values(c) == [6.0, 1.0, 4.0]
    assert values(x.grad) == [2.0, 7.0, 2.0]
    assert c._version == 2


# ------------------------------------------------------------------------------------------ assignment


def test_assignment_has_gradients_to_both(t):
    x, v = leaf(t, 4), leaf(t, 2)
    y = x * 1
    y[[0, 2]] = v * v
    y.sum().backward()
    assert values(x.grad) == [0.0, 1.0, 0.0, 1.0]
    assert values(v.grad) == [2.0, 4.0]
    z = x * 1
    z[z > 2] = t.tensor(9.0, dtype=t.float64)
    assert values(z) == [1.0, 2.0, 9.0, 9.0]
    assert values(t.autograd.grad(z.sum(), x)[0]) == [1.0, 1.0, 0.0, 0.0]


def test_integers_come_before_arrays_in_an_index(t):
    x = leaf(t, 3, 4, 5)
    assert values(x[-1, :2, [0, 1]]) == [[41.0, 42.0], [46.0, 47.0]]
    y = x * 1
    y[-1, :2, [0, 1]] = t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64)
    assert values(y[-1, :2, :2]) == [[1.0, 2.0], [3.0, 4.0]]


# ------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: leaf(t, 3).add_(1), "a leaf Variable that requires grad is being used in an in-place operation"),
        (lambda t: leaf(t, 3)[0].add_(1), "a view of a leaf Variable that requires grad is being used in an in-place"),
        (lambda t: t.ones(3, 1).expand(3, 2).add_(1), "more than one element of the written-to tensor refers to a"),
        (lambda t: t.ones(2).add_(t.ones(3, 2)), "output with shape .* doesn't match the broadcast shape"),
        (lambda t: t.tensor([1]).add_(1.5), "result type Float can't be cast to the desired output type Long"),
        (lambda t: (leaf(t, 3) * 1).unbind(0)[0].mul_(2), "This view is the output of a function that returns"),
        (lambda t: (leaf(t, 3) * 1)[0].detach_(), "Can't detach views in-place"),
        (lambda t: t.exp(leaf(t, 2), out=t.empty(2)), "don't support automatic differentiation"),
    ],
    ids=range(8),
)
def test_refusals(t, change, words):
    with pytest.raises(RuntimeError, match=words):
        change(t)


def test_a_refused_leaf_is_named():
    weight = symgrad.tensor([1.0], requires_grad=True, name="W")
    with pytest.raises(RuntimeError, match=r"\(the leaf is W\)"):
        weight[0].add_(1)


@pytest.mark.parametrize(
    "change",
    [lambda y: y.add_(1), lambda y: y.detach().add_(1), lambda y: y.view(1).add_(1)],
    ids=["itself", "detached", "view"],
)
def test_changed_scalars_are_noticed(t, change):
    x = t.tensor(2.0, requires_grad=True)
    y = x.exp()
    z = y * 1
    change(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_what_the_operation_itself_saved_stays_right(t):
    x, w = leaf(t, 3), leaf(t, 3)
    y = x * 2
    y.mul_(w)
    y.sum().backward()
    assert values(w.grad) == [2.0, 4.0, 6.0]
    z = x * 1
    z.exp_()
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# ------------------------------------------------------------------------------------------ versions, memory


def test_versions_are_shared(t):
    x = t.ones(3)
    alias = x.detach()
    alias.add_(1)
    x[0].add_(1)
    x.data.add_(1)
    assert (x._version, alias._version) == (2, 2)
    assert values(x) == [4.0, 3.0, 3.0]


def test_without_grad_a_leaf_stays_a_leaf(t):
    x = leaf(t, 3)
    with t.no_grad():
        x[0] = 7
        x.mul_(2)
        x[1].add_(1)
    assert values(x) == [14.0, 5.0, 6.0]
    assert x.is_leaf
    assert x._version == 3


def test_results_of_other_ops_have_memory_of_their_own(t):
    x = leaf(t, 3)
    y = x * 1
    y.flip(0).mul_(2)
    assert values(y) == [1.0, 2.0, 3.0]


def test_filling_where_entries_share_memory(t):
    y = leaf(t, 2) * 1
    y.expand(3, 2).fill_(0.5)
    assert values(y) == [0.5, 0.5]


def test_retained_gradients_follow_the_tensor(t):
    x = leaf(t, 3)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    assert values(y.grad) == [12.0, 24.0, 36.0]


def test_forms_that_change_the_shape(t):
    x = leaf(t, 2, 3)
    y = x * 1
    y.t_()
    y.mul_(2)
    y.unsqueeze_(0)
    assert tuple(y.shape) == (1, 3, 2)
    y.sum().backward()
    assert values(x.grad) == [[2.0] * 3] * 2


def test_windows_are_views(t):
    x = leaf(t, 5)
    y = x * 1
    pairs = y.unfold(0, 2, 2)
    y.mul_(10)
    assert values(pairs) == [[10.0, 20.0], [30.0, 40.0]]
    pairs.mul_(t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64))
    y.sum().backward()
    assert values(x.grad) == [10.0, 20.0, 30.0, 40.0, 10.0]
    if t is symgrad:  # torch writes to overlapping windows, in whatever order
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            y.unfold(0, 3, 1).mul_(2)


def test_iteration_unbinds(t):
    assert [node(row) for row in leaf(t, 2, 2)] == ["UnbindBackward0"] * 2


def test_out(t):
    a, out = t.ones(2), t.empty(2)
    assert t.add(a, a, out=out) is out
    assert values(out) == [2.0, 2.0]
    assert values(t.neg(a, out=out)) == [-1.0, -1.0]


# ------------------------------------------------------------------------------------------ quotients, 0-d


def test_integer_quotients(t):
    x = t.tensor([7, -7])
    assert values(t.div(x, 2, rounding_mode="floor")) == [3, -4]
    assert values(t.div(x, 2, rounding_mode="trunc")) == [3, -3]
    assert t.div(x, 2, rounding_mode="floor").dtype == t.int64
    assert (leaf(t, 2) // 2).requires_grad


def test_softmax_of_one_number(t):
    x = t.tensor(2.0, requires_grad=True)
    t.softmax(x, 0).backward()
    assert x.grad.item() == 0.0


# ------------------------------------------------------------------------------------------ formulas


def test_a_changed_tensor_has_a_formula():
    from symgrad.formula.term import evaluate

    x = symgrad.tensor([1.0, 2.0, 3.0], dtype="float64", requires_grad=True, name="x")
    y = x * 2
    y[0].mul_(x[1])
    y[1:].exp_()
    array = np.array([0.3, -0.2, 0.5])
    expected = np.array([2 * 0.3 * -0.2, np.exp(-0.4), np.exp(1.0)])
    assert np.allclose(evaluate(y.term, {"x": array}), expected)
    (y * y).sum().backward()
    assert np.allclose(evaluate(x.grad.term, {"x": x.detach().numpy()}), x.grad.numpy())


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        (lambda x: (y := x.exp(), y, y), "argument 0 is g*old"),
        (lambda x: (y := x * 3, y * x, y), "argument 1 is g*old"),
        (lambda x: (y := x + 1, x / y, y), "argument 0 is g/old"),
        (lambda x: (y := x + 1, y.log(), y), "argument 0 is g/old"),
        (lambda x: (y := x + 1, x.outer(y), y), "argument 0 is g @ old"),
        (lambda x: (y := x.sigmoid(), y, y), "argument 0 is g*old*(1 - old)"),
    ],
    ids=["result", "factor", "divisor", "argument", "vector", "sigmoid"],
)
def test_the_error_shows_the_rule_that_needs_the_old_value(program, rule):
    _, z, changed = program(symgrad.tensor([1.0, 2.0], requires_grad=True))
    changed.add_(1)
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    assert f"The old value is needed: the gradient by {rule}. Hint:" in str(caught.value)


def test_the_error_names_version_line_and_leaf():
    x = symgrad.tensor([1.0, 2.0], requires_grad=True, name="x")
    y = x.exp()
    z = y * y
    y.add_(1)
    y.mul_(2)
    with pytest.raises(
        RuntimeError,
        match=r"\[torch.FloatTensor \[2\]\], which is output 0 of Mul, is at version 2; expected version 0 instead\. "
        r"It was saved for the backward of mul and changed afterwards by 'y\.mul_\(2\)' \(line \d+ of .*inplace\.py\)",
    ):
        z.sum().backward()
    scale = symgrad.ones(2, name="scale")
    scale.add_(1)
    z = (x * scale).sum()
    scale.zero_()
    with pytest.raises(RuntimeError, match=r"\] is at version 2; expected version 1 instead\. scale was saved"):
        z.backward()
    many = symgrad.ones(2)
    z = (x * many).sum()
    for _ in range(20):
        many.add_(1)
    with pytest.raises(RuntimeError, match="is at version 20; expected version 12 or earlier instead"):
        z.backward()


@pytest.mark.parametrize("reduce", ["prod", "amax", "amin", "mean"])
def test_numbers_reduced_into_themselves(reduce):
    """An op that works on a vector of one keeps the old number of what it changes."""

    def written(x, s):
        return (x * 1).index_reduce_(0, symgrad.tensor([0]), s, reduce)

    x, s = (symgrad.tensor(v, dtype=symgrad.float64, requires_grad=True) for v in (2.5, 1.5))
    apart = (x * 1).index_reduce(0, symgrad.tensor([0]), s, reduce)
    want = symgrad.autograd.grad(apart, (x, s))
    assert written(x, s).item() == apart.item()
    assert symgrad.autograd.grad(written(x, s), (x, s)) == want
    scattered = (x * 1).scatter_reduce_(0, symgrad.tensor(0), s, reduce)
    assert symgrad.autograd.grad(scattered, (x, s)) == want


CHANGES = {
    "add_": lambda x: x.add_(1),
    "setitem": lambda x: x.__setitem__(0, 1.0),
    "zero_": lambda x: x.zero_(),
    "out": lambda x: symgrad.add(x, 1, out=x),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_read_only_memory(change):
    """torch warns of such arrays, and writes to them; here nobody does."""
    array = np.ones(3)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only.*Change a clone"):
        change(symgrad.from_numpy(array))
    assert array.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dtype", "shape"), [("float32", (3, 3)), ("float64", (5,)), ("float32", ())])
def test_what_changes_alone_gets_the_bits_that_it_gets_before_the_eyes_of_a_view(dtype, shape):
    """A tensor that nothing follows is changed by arrays alone; one that has a view by tensors."""
    rng = np.random.default_rng(0)
    others = [symgrad.tensor(rng.uniform(0.2, 0.9, shape).astype(dtype)) for _ in range(2)]
    start = rng.uniform(0.2, 0.9, shape).astype(dtype)
    changed = set()
    names = [name for name in dir(symgrad.Tensor) if name.endswith("_") and not name.startswith("_")]
    for name in names:
        for args in ((), (0.5,), (2,), tuple(others[:1]), tuple(others), (others[0], 0.5), (0.25, 0.5)):
            alone, seen = symgrad.tensor(start), symgrad.tensor(start)
            view = seen[...]
            outcomes = []
            for tensor in (alone, seen):
                symgrad.manual_seed(0)
                try:
                    getattr(tensor, name)(*args)
                    outcomes.append((tensor.dtype, tensor.shape, tensor.detach().numpy().tobytes()))
                except Exception as error:  # noqa: BLE001  (both raise the same)
                    outcomes.append((type(error), str(error), start.tobytes()))
            assert outcomes[0] == outcomes[1], (name, args)
            if outcomes[0][2] != start.tobytes():
                changed.add(name)
            del view
    assert len(changed) > 100


@pytest.mark.parametrize("shape", [(40, 1, 1000), (1, 1, 1)])
def test_changes_of_repeated_entries_are_found(shape):
    """Of a large array that shows entries many times, each is looked at once."""
    entries = np.random.default_rng(0).normal(size=shape)
    repeated = np.broadcast_to(entries, (40, 30, 1000))
    x = symgrad.tensor(np.ones(repeated.shape), requires_grad=True)
    y = (x * repeated).sum()
    y.backward(retain_graph=True)
    np.testing.assert_array_equal(x.grad.numpy(), repeated)
    entries[0, 0, 0] += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
