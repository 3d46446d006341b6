"""Views that were changed in place: what their history does in recorded and in second passes."""

from __future__ import annotations

import math

import pytest

import symgrad as sg

SECOND_TIME = "Trying to backward through the graph a second time"
CHANGES = ["v.fill_(0.5)", "v.zero_()", "v.copy_(v.detach() * 2)", "v.sign_()"]


def changed(t, change):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y.transpose(0, 1)
    eval(change, {"v": v})
    return x, y


@pytest.mark.parametrize("change", CHANGES)
def test_recorded_zeros_have_history(t, change):
    """A change without derivative leaves zeros that are a copy into the base's gradient, with its history."""
    x, y = changed(t, change)
    (g,) = t.autograd.grad(y.sin().sum(), x, create_graph=True)
    assert g.requires_grad
    assert g.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert not g.requires_grad


@pytest.mark.parametrize("change", [*CHANGES, "v.add_(1)"])
def test_second_pass(t, change):
    """The change of a view is undone by the pass that runs through it, even where nothing was saved."""
    _, y = changed(t, change)
    y.sum().backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.sum().backward()


@pytest.mark.parametrize("change", ["v.fill_(0.5)", "v.zero_()"])
def test_entries_shown_twice(t, change):
    """One value may be written into a view that shows entries twice, but no gradient can be copied back."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y.expand(2, 2)
    eval(change, {"v": v})
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        y.sum().backward()


@pytest.mark.parametrize("call", ["t.add(x, x, alpha=3)", "t.sub(x, x, alpha=2)", "t.lerp(x, x, 0.3)"])
def test_numbers_are_not_freed(t, call):
    """Functions that multiply by a number on the way and save nothing can be run through twice."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = eval(call, {"t": t, "x": x})
    y.sum().backward()
    first = x.grad.clone()
    y.sum().backward()
    assert x.grad.tolist() == (2 * first).tolist()


@pytest.mark.parametrize("call", ["x.max(0)[0]", "x.max()", "x.prod(0)", "x.prod()", "x.softmax(0)", "x.log_softmax(0)",
                                  "t.copysign(x, t.tensor(1.0))"])  # fmt: skip
def test_numbers_without_axes_are_saved_too(t, call):
    """What a reduction does to a 0-d tensor is nothing, but what it saved is freed all the same."""
    x = t.tensor(2.0, requires_grad=True)
    y = eval(call, {"t": t, "x": x})
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.backward()


def test_bessel_function_saves_its_argument_only(t):
    """The result of i0 may change, its derivative is i1 of the argument."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = t.special.i0(x)
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx((2 * t.special.i1(x)).tolist())


@pytest.mark.parametrize("recording", [True, False])
def test_views_of_a_base_that_changed_its_shape(t, recording):
    """Views show what they showed before their base was transposed, and changes of them go to the right place."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=recording)
    y = x * 1
    row, across = y[0], y.transpose(0, 1)
    y.t_()
    y.unsqueeze_(0)
    row.mul_(10)
    assert y.tolist() == [[[10.0, 3.0], [20.0, 4.0]]]
    assert across.tolist() == [[10.0, 3.0], [20.0, 4.0]]
    if recording:
        by_x, by_y = t.autograd.grad((across * across).sum(), [x, y])
        assert by_x.tolist() == [[200.0, 400.0], [6.0, 8.0]]
        assert by_y.tolist() == [[[20.0, 6.0], [40.0, 8.0]]]


@pytest.mark.parametrize(
    "turn", ["v.t_()", "v.transpose_(0, 1)", "v.as_strided_((3, 2), (1, 3))", "v.unsqueeze_(0).mT"]
)
def test_view_whose_shape_changed_unrecorded(t, turn):
    """It is another part of its base from then on: for gradients through it, and for what is written into it."""
    x = t.ones(2, 3, requires_grad=True)
    y = x * 1
    v = y.view_as(y)
    with t.no_grad():
        eval(turn, {"v": v})
    factors = t.arange(6.0).reshape(3, 2) if v.ndim == 2 else t.arange(6.0).reshape(1, 3, 2).mT
    (got,) = t.autograd.grad((v * factors).sum(), x, retain_graph=True)
    assert got.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    v.mul_(factors)
    assert y.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    (got,) = t.autograd.grad((y * t.arange(6.0).reshape(2, 3)).sum(), x)
    assert got.tolist() == [[0.0, 2.0, 8.0], [3.0, 12.0, 25.0]]


def test_part_without_entries_of_a_view_changed_unrecorded(t):
    y = t.ones(2, 3, requires_grad=True) * 1
    v = y.view_as(y)
    with t.no_grad():
        v.as_strided_((1, 0), (2, 2))
    v.add_(1)
    assert y.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize("renewed", [True, False])
def test_result_whose_shape_changed_unrecorded(t, renewed):
    """Its history is that of the shape it had: a gradient of the new one is not read in another order, but refused."""
    x = t.ones(2, 3, requires_grad=True)
    y = x * 1
    if renewed:
        y.data = y.data.t()
    else:
        with t.no_grad():
            y.t_()
    out = (y * t.arange(6.0).reshape(3, 2)).sum()
    with pytest.raises(
        RuntimeError, match=r"invalid gradient .*got \[3, 2\] but expected shape compatible with \[2, 3\]"
    ):
        t.autograd.grad(out, x)


LOST = "is a view and its base or another view of its base has been modified inplace"


@pytest.mark.parametrize("change", ["y.sin_()", "y.t_()", "part.detach().fill_(0.5)", "y.detach().fill_(0.5)"])
def test_parts_of_a_changed_base(t, change):
    """One of several views has a value, but no history, once its base was changed by whatever way."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    part = y.unbind(0)[1]
    eval(change, {"y": y, "part": part})
    assert len(part.tolist()) == part.shape[0] == 2
    assert not part.all().requires_grad
    for use in (lambda: part.grad_fn, lambda: part + 1, lambda: t.autograd.grad(y.sum(), part)):
        with pytest.raises(RuntimeError, match=LOST):
            use()


def test_hooks_of_views_stay_behind(t):
    """A part of a view with a hook is changed: the hook stays with what the view was."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    across = y.permute(1, 0)
    seen = []
    across.register_hook(seen.append)
    across.select(0, 0).sin_()
    across.exp().sum().backward()
    assert not seen


def test_unrecorded_views_are_out_of_reach(t):
    """A view cut under no_grad requires grad as its base does, but nothing leads to it, so nothing runs for it."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with t.no_grad():
        v = x.view(-1)
    y = v * v
    z = (y * y).sum()
    with t.no_grad():
        y.mul_(2)
    assert t.autograd.grad(z, [x, v], allow_unused=True) == (None, None)


def test_unrecorded_view_becomes_a_leaf(t):
    """Told to require grad itself, such a view has the gradients of what is done with it from then on, and no more."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with t.no_grad():
        v = x[:]
    before = x.sum() + v.sum()
    v.requires_grad_()
    assert before.grad_fn.next_functions[1][0].next_functions == ((None, 0),)
    seen = []
    v.register_hook(seen.append)
    both = before + (v * v).sum()
    assert t.autograd.grad(before, [x, v], allow_unused=True, retain_graph=True)[1] is None
    before.backward(retain_graph=True)
    assert v.grad is None
    assert not seen
    (g,) = t.autograd.grad(both, v, create_graph=True)
    (second,) = t.autograd.grad(g.sum(), v)
    assert second.tolist() == [2.0, 2.0]
    seen.clear()
    both.backward()
    assert v.grad.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [2.0, 2.0]
    assert len(seen) == 1


def test_empty_view_of_a_changed_base(t):
    """What reads no entries of a base has a zero without history as its gradient."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    nothing = y[2:]
    y.mul_(2)
    (g,) = t.autograd.grad((nothing * nothing).sum(), y, create_graph=True)
    assert not g.requires_grad
    assert g.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("index", ["0", "slice(0, 1)"])
def test_second_pass_through_a_part(t, index):
    """``x[index] = value`` is a change of a view, too."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y[eval(index)] = 3.0
    assert type(type(y.grad_fn).__name__) is str
    y.sum().backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.sum().backward()


def test_sign_of_a_constant(t):
    """copysign keeps its first argument only where that has a gradient."""
    x = t.tensor([1.0, -2.0], requires_grad=True)
    size = t.tensor([3.0, 4.0])
    y = t.copysign(size, x)
    size.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("call", ["x.prod()", "x.prod(0)", "x.cumprod(0)", "x.logcumsumexp(0)"])
def test_products_of_one_number(t, call):
    """There is nothing to multiply, so the derivative does not depend on the number."""
    x = t.tensor(2.0, requires_grad=True)
    (g,) = t.autograd.grad(eval(call, {"x": x}), x, create_graph=True)
    assert not g.requires_grad
    assert g.item() == 1.0


@pytest.mark.parametrize("call", ["x.sort()[0]", "x.topk(1)[0]", "x.kthvalue(1)[0]", "x.mode()[0]", "x.median(0)[0]"])
def test_places_in_a_number_are_freed(t, call):
    """Where something was found is saved, even where there is one place only."""
    x = t.tensor(2.0, requires_grad=True)
    y = eval(call, {"x": x})
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.backward()


def test_hooks_before_what_cannot_run(t):
    """The hooks of a result run before its node finds that what it saved was changed."""
    x = t.tensor([3.0, 1.0], requires_grad=True)
    y = x.exp()
    seen = []
    y.register_hook(seen.append)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert [g.tolist() for g in seen] == [[2.0, 2.0]]


def test_hooks_of_a_branch_before_what_cannot_run(t):
    """The same for a result of which only some entries went on."""
    x = t.tensor([3.0, -1.0], requires_grad=True)
    y = x.exp()
    z = y.masked_fill(x > 0, 0.0)
    seen = []
    y.register_hook(seen.append)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    assert [g.tolist() for g in seen] == [[0.0, 1.0]]


def test_parts_without_gradient_may_change(t):
    """One of several views of a tensor that has a formula but no gradient is changed like any other."""
    a = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    if t.__name__ == "symgrad":
        a.name = "a"  # so that what is made of it is recorded, though it has no gradient
    part = (a * 2).unbind(0)[0]
    part.fill_(0.5)
    assert part.is_leaf
    assert part.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("repeat", "cut"),
    [
        ("v.broadcast_to((2, 3))", "w[1:]"),
        ("v.expand((2, 3))", "w[1:, :2]"),
        ("v.expand((2, 3))", "w.diagonal()"),
        ("v.expand((2, 3)).T", "w[1:, 0]"),
        ("v.unfold(0, 2, 1)", "w[0]"),
        ("v.unfold(0, 2, 1)", "w.select(1, 1)"),
    ],
)
def test_a_part_of_repeated_entries(t, repeat, cut):
    """An entry that a view shows twice is changed in both places when one of them is, and its gradient follows."""
    values = [0.3, 0.5, 0.7]
    x = t.tensor(values, dtype=t.float64, requires_grad=True)
    whole = x * 1
    repeated = eval(repeat, {"v": whole})
    part = eval(cut, {"w": repeated})
    part.sin_()
    w = t.arange(repeated.numel(), dtype=t.float64).reshape(repeated.shape)
    (10 * whole.sum() + (w * repeated).sum() + part.sum()).backward()
    slope, places = [10.0, 10.0, 10.0], eval(repeat, {"v": t.arange(3)})
    for place, weight in zip(places.flatten().tolist(), w.flatten().tolist(), strict=True):
        slope[place] += weight
    for place in eval(cut, {"w": places}).flatten().tolist():
        slope[place] = (slope[place] + 1) * math.cos(values[place])
    assert x.grad.tolist() == pytest.approx(slope)


def test_new_data_of_a_part_that_could_not_follow(t):
    """One of several parts whose base changed takes new data; what it was made of is still refused."""
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    whole = x * 1
    part = whole.chunk(2)[0]
    whole.fill_(0.5)
    part.data = part.data * 2
    assert part.data.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="is a view and its base or another view of its base has been modified"):
        part.sum().backward()


ELSEWHERE = {
    "what it was detached from": lambda y, z: y.mul_(2),
    "a part of that": lambda y, z: y[:1].mul_(2),
    "another twin": lambda y, z: y.detach().mul_(2),
    "a twin of the leaf": lambda y, z: z.detach().mul_(2),
}


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("change", ELSEWHERE.values(), ids=ELSEWHERE)
def test_views_of_a_detached_leaf_follow_changes_elsewhere(t, change, tracked):
    y = t.ones(3, requires_grad=tracked) * 2
    z = y.detach().requires_grad_()
    v = z[None]
    change(y, z)
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert v.grad_fn.next_functions[0][0].variable is z
    (v * v).sum().backward()
    assert z.grad.tolist() == (2 * z).tolist()


def test_data_is_counted_apart_from_what_it_was_taken_of(t):
    b = t.ones(3)
    z = b.data.requires_grad_()
    v = z[None]
    b.mul_(2)
    assert v.grad_fn.name() == "UnsqueezeBackward0"
    assert v.tolist() == [[2.0, 2.0, 2.0]]


def test_leaves_that_were_not_detached_cost_changes_nothing():
    import symgrad as sg
    from symgrad.tape.memory import views

    before = len(views.TWINS)
    leaves = [sg.ones(3, requires_grad=True), sg.ones(3).requires_grad_(), sg.tensor([1.0], requires_grad=True)]
    leaves[0].requires_grad_(False).requires_grad_()
    assert len(views.TWINS) == before
    twin = leaves[0].detach().requires_grad_()
    assert len(views.TWINS) == before + 1
    del twin
    assert len(views.TWINS) == before


CUT = {"view": lambda v: v.view(-1), "unsqueeze": lambda v: v.unsqueeze(0), "reshape": lambda v: v.reshape(1, -1)}


@pytest.mark.parametrize("cut", CUT.values(), ids=CUT)
@pytest.mark.parametrize("size", [1, 3])
def test_what_a_finer_operand_changes_keeps_its_dtype(t, cut, size):
    x = t.tensor([0.5] * size, requires_grad=True)
    fine = t.tensor([0.25], dtype=t.float64, requires_grad=True)
    for v in (x.sum(), x * 2):
        part = cut(v)
        part.sub_(fine)
        assert (v.dtype, part.dtype, v.sin().dtype, (part * 2).dtype) == (t.float32,) * 4
        (g, h) = t.autograd.grad(v.cos().sum(), (x, fine))
        assert (g.dtype, h.dtype) == (t.float32, t.float64)


@pytest.mark.parametrize("change", ["w.neg_()", "z.mul_(10)", "y[0].mul_(3)"])
def test_memory_of_a_part_with_gaps_read_by_strides(t, change):
    """It is a view of the base: of entries that are not the part's the base knows the gradient, once it changed."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    w = y[..., 0]
    z = w.as_strided((2,), (1,))
    assert z._base is y
    (before,) = t.autograd.grad(z.sum(), x, retain_graph=True)
    assert before.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    eval(change, {"w": w, "z": z, "y": y})
    factors = {"w.neg_()": [-1.0, 1.0], "z.mul_(10)": [10.0, 10.0], "y[0].mul_(3)": [3.0, 3.0]}[change]
    assert z.tolist() == y[0].tolist() == [factors[0], 2 * factors[1]]
    (got,) = t.autograd.grad(z.sum(), x)
    assert got.tolist() == [factors, [0.0, 0.0]]


@pytest.mark.parametrize("cut", ["y[:, 0]", "y[:, 0].detach()", "y.data[:, 0]"])
def test_written_through_strides_without_history(t, cut):
    y = t.zeros(2, 2)
    eval(cut, {"y": y}).as_strided((2,), (1,)).fill_(5)
    assert y.tolist() == [[5.0, 5.0], [0.0, 0.0]]


OFF = {**CUT, "slice": lambda v: v[1:], "unfold": lambda v: v.unfold(0, 2, 1)}


@pytest.mark.parametrize("cut", OFF.values(), ids=OFF)
def test_a_view_that_was_cut_off_is_differentiated_twice(t, cut):
    """A view of a base that gave up requires_grad, and was changed, leads nowhere, and has all derivatives itself."""
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = cut(x)
    x.requires_grad_(False)
    x.mul_(3)
    (g,) = t.autograd.grad((v * v * v).sum(), v, create_graph=True)
    assert g.requires_grad
    (h,) = t.autograd.grad(g.sum(), v)
    assert h.tolist() == (6 * v).tolist()
    (v * v).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("change", ["unsqueeze_", "t_", "squeeze_"])
def test_other_views_follow_a_change_of_shape_without_grad(t, change):
    """The version counts it, and torch takes views anew by their strides; their gradients stay what they were."""
    x = t.ones(3, 3, requires_grad=True)
    row, other = x.view(9), x[1:]
    with t.no_grad():
        row.unsqueeze_(0) if change == "unsqueeze_" else getattr(row, change)()
    assert (x._version, other.grad_fn.name(), row.grad_fn.name()) == (1, "AsStridedBackward0", "AsStridedBackward0")
    (other * 2).sum().backward()
    assert x.grad.tolist() == [[0.0] * 3, [2.0] * 3, [2.0] * 3]


def test_a_mask_whose_data_are_replaced_is_what_it_is_given() -> None:
    """It went on as the comparison that it was: its values and dtype in formulas, and the dtype of its gradient."""
    x = sg.tensor([1.0, -2.0], requires_grad=True, name="x")
    mask = x > -1.5
    mask.data = mask.data * 2
    assert mask.dtype == sg.int64
    out = (sg.logaddexp(mask, x) * mask).sum()
    out.backward()
    assert sg.formula(out).evaluate(x=x.detach().numpy()) == pytest.approx(out.item())
    expected = (mask * sg.sigmoid(x - mask)).detach()
    assert sg.allclose(x.grad, expected)


@pytest.mark.parametrize("place", ["0", ":1", "...", "v > -1"])
def test_parts_written_into_one_view_of_several(t, place):
    """As every change that would record: what is put there by its index went through, and no pass could run."""
    whole = t.zeros(3, 1)
    v = whole.unbind(-1)[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        exec(f"v[{place}] = x", {"v": v, "x": t.ones((), requires_grad=True)})
    assert whole.tolist() == [[0.0]] * 3
    v[0] = 2.0
    assert whole.tolist() == [[2.0], [0.0], [0.0]]


def test_a_place_that_is_refused_is_as_it_was(t):
    """An out= of a dtype that the result does not go into took the shape of the result before that was said."""
    place = t.tensor([True, False])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Bool"):
        t.mul(t.ones(2, 2), 2.0, out=place)
    assert place.tolist() == [True, False]
