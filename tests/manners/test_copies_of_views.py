"""What functions named ``..._copy`` give: the entries of a view, in memory of its own."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

CALLS = {
    "alias": ((3, 4), ()),
    "as_strided": ((3, 4), ((2, 2), (4, 2))),
    "detach": ((3, 4), ()),
    "diagonal": ((3, 4), (1,)),
    "expand": ((3, 1), ((3, 4),)),
    "narrow": ((3, 4), (1, 1, 2)),
    "permute": ((2, 3, 4), ((2, 0, 1),)),
    "select": ((3, 4), (1, 2)),
    "slice": ((3, 4), (1, 0, 4, 2)),
    "split": ((3, 4), (2, 1)),
    "split_with_sizes": ((3, 4), ((1, 2),)),
    "squeeze": ((3, 1, 4), ()),
    "t": ((3, 4), ()),
    "transpose": ((2, 3, 4), (0, 2)),
    "unbind": ((3, 4), (1,)),
    "unfold": ((5, 2), (0, 3, 2)),
    "unsqueeze": ((3, 4), (1,)),
    "view": ((3, 4), ((4, 3),)),
    "view_as_real": ((2, 3), ()),
}
VIEWS = {
    "alias": lambda t, x: x,
    "detach": lambda t, x: x.detach(),
    "expand": lambda t, x, size: x.expand(size),
    "unfold": lambda t, x, *args: x.unfold(*args),
    "slice": lambda t, x, dim, start, end, step: x[:, start:end:step],
    "view": lambda t, x, size: x.view(size),
}


def several(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


@pytest.mark.parametrize("name", CALLS)
def test_a_copy_has_memory_of_its_own(t, name):
    shape, args = CALLS[name]
    count = t.ones(shape).numel()
    x = t.arange(float(count)).view(shape)
    if name == "view_as_real":
        x = x * (1 + 2j)
    before = x.clone()
    view = VIEWS.get(name, lambda t, x, *args: getattr(t, name)(x, *args))
    shown, copies = several(view(t, x, *args)), several(getattr(t, f"{name}_copy")(x, *args))
    assert len(shown) == len(copies)
    for a, b in zip(shown, copies, strict=True):
        assert t.equal(a, b)
        assert b.is_contiguous()
        assert not b._is_view()
        b.zero_()
    assert t.equal(x, before)


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("alias", "detach", "view_as_real")])
def test_a_copy_has_the_gradient_of_the_view(t, name):
    shape, args = CALLS[name]
    x = t.ones(shape, requires_grad=True)
    parts = several(getattr(t, f"{name}_copy")(x, *args))
    assert parts[0].grad_fn is not None
    seeds = [t.arange(1.0, p.numel() + 1).view(p.shape) for p in parts]
    (found,) = t.autograd.grad(parts, x, seeds)
    view = VIEWS.get(name, lambda t, x, *args: getattr(t, name)(x, *args))
    (wanted,) = t.autograd.grad(several(view(t, x, *args)), x, seeds)
    assert t.equal(found, wanted)


@pytest.mark.parametrize("call", ["repeat(2, 1)", "repeat(1)", "tile(2, 1)", "tile(1)"])
def test_copies_made_unrecorded_require_no_grad(t, call):
    """They are no views, which require grad as their base does."""
    x = t.arange(3.0).requires_grad_()
    with t.no_grad():
        made = eval(f"x.{call}", {"x": x})
    assert not made.requires_grad
    assert not (made * 2).requires_grad


def test_copies_into_given_tensors(t):
    x = t.arange(4.0)
    outs = t.empty(2), t.empty(2)
    t.split_copy(x, 2, out=outs)
    assert [o.tolist() for o in outs] == [[0, 1], [2, 3]]
    out = t.empty(2, 2)
    t.t_copy(x.view(2, 2), out=out)
    assert out.tolist() == [[0, 2], [1, 3]]


def test_deep_copies_share_what_was_shared(t):
    a = t.arange(4.0)
    whole, part = copy.deepcopy([a, a[1:3]])
    part.zero_()
    assert whole.tolist() == [0, 0, 0, 3]
    part, whole = copy.deepcopy([a[1:3], a])
    part.zero_()
    assert whole.tolist() == [0, 0, 0, 3]
    assert a.tolist() == [0, 1, 2, 3]
    b = t.arange(6.0).reshape(2, 3)
    both = copy.deepcopy({"b": b, "turned": b.t()})
    both["turned"].mul_(2)
    assert both["b"].tolist() == [[0, 2, 4], [6, 8, 10]]
    leaf = t.ones(2, requires_grad=True)
    twin, plain = copy.deepcopy((leaf, leaf.detach()))
    plain.add_(1)
    assert twin.tolist() == [2, 2]
    assert twin.requires_grad
    assert leaf.tolist() == [1, 1]
    parameter = t.nn.Parameter(t.ones(2))
    own, apart = copy.deepcopy([parameter, parameter.data])
    apart.zero_()
    assert own.tolist() == [1, 1]


def stored(t, value):
    """What ``load`` reads of what ``save`` wrote."""
    file = io.BytesIO()
    t.save(value, file)
    file.seek(0)
    return t.load(file)


def test_what_was_stored_together_shares_memory_as_before(t):
    """Two views of one memory, saved in one file, are two views of one memory again."""
    a = t.arange(6.0).view(2, 3)
    kept = stored(t, {"a": a, "row": a[0], "turned": a.t(), "apart": a.detach(), "spread": a[:, :1].expand(2, 4)})
    kept["a"][0, 0] = 9
    assert kept["row"].tolist() == [9.0, 1.0, 2.0]
    assert kept["turned"][0].tolist() == [9.0, 3.0]
    assert kept["apart"][0, 0] == 9
    assert kept["spread"][0].tolist() == [9.0] * 4
    assert kept["spread"].stride() == (3, 0)
    assert a[0, 0] == 0


def test_a_part_is_stored_without_its_owner(t):
    part = t.arange(6.0)[2:4]
    assert stored(t, part).tolist() == [2.0, 3.0]


@pytest.mark.filterwarnings("ignore:backward hook")
def test_shallow_copies(t):
    """A leaf of its own in the same memory: it has neither the gradient nor the hooks, and tells the first nothing."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    x.grad, x.note, seen = t.ones(2), "kept", []
    x.register_hook(seen.append)
    twin = copy.copy(x)
    assert twin is not x
    assert (twin.grad, twin.requires_grad, twin.is_leaf, twin.note) == (None, True, True, "kept")
    (twin * 3).sum().backward()
    assert twin.grad.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [1.0, 1.0]
    assert seen == []
    with t.no_grad():
        twin.mul_(2)
    assert x.tolist() == [2.0, 4.0]
    twin.requires_grad_(False)
    assert x.requires_grad
    assert type(copy.copy(t.nn.Parameter(t.ones(2)))) is t.nn.Parameter


def test_a_shallow_copy_of_a_result_is_a_leaf(t):
    y = t.tensor([1.0], requires_grad=True) * 2
    twin = copy.copy(y)
    assert (twin.is_leaf, twin.requires_grad, twin.grad_fn) == (True, True, None)


def test_shallow_copies_count_their_changes_themselves(t):
    """A copy was given its memory, which is its first change; what is changed through it is told to nobody else."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    factor = t.ones(2)
    factor.add_(1)
    twin = copy.copy(factor)
    assert (factor._version, twin._version) == (1, 1)
    y = (x * factor).sum()
    twin.add_(1)
    assert (factor._version, twin._version, factor.tolist()) == (1, 2, [3.0, 3.0])
    y.backward()  # with what lies in the memory now, as after a change through .data
    assert x.grad.tolist() == [3.0, 3.0]


def test_deep_copies_of_parameters_are_their_values_alone(t):
    """A target network began with the gradient and the hooks of the one that it was copied from."""
    weight = t.nn.Parameter(t.tensor([1.0, 2.0]))
    weight.role = "head"
    weight.register_hook(lambda g: 10 * g)
    weight.square().sum().backward()
    with t.no_grad():
        weight.mul_(2)
    copied = copy.deepcopy({"online": weight, "tied": weight})
    twin = copied["online"]
    assert copied["tied"] is twin
    assert type(twin) is t.nn.Parameter
    assert twin.grad is None
    assert not hasattr(twin, "role")
    assert twin._version == 0
    twin.sum().backward()
    assert (twin.tolist(), twin.grad.tolist()) == ([2, 4], [1, 1])
    assert weight.grad.tolist() == [20, 40]
    frozen = t.nn.Parameter(t.ones(2), requires_grad=False)
    assert not copy.deepcopy(frozen).requires_grad


def test_files_have_no_gradients(t):
    """Training that goes on from a file began with the gradients of the step at which it was written."""
    weight, x = t.nn.Parameter(t.tensor([1.0, 2.0])), t.ones(2, requires_grad=True)
    (weight * x).sum().backward()
    found = stored(t, {"weight": weight, "others": [x]})
    for made in (found["weight"], found["others"][0]):
        assert made.requires_grad
        assert made.grad is None
    (found["weight"] * 3).sum().backward()
    assert found["weight"].grad.tolist() == [3, 3]
    assert x.grad.tolist() == [1, 2]


def test_files_beside_other_picklers(t):
    """A pickler that still holds the tensor, with its gradient, gives nothing to a file."""
    x = t.ones(2, requires_grad=True)
    (x * x).sum().backward()
    pickler = pickle.Pickler(io.BytesIO())
    pickler.dump(x)
    assert stored(t, x).grad is None
    pickler.clear_memo()
