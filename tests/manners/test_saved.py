"""What nodes save: under torch's names, through pack and unpack hooks, freed by backward."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pytest

from tests.functions import squaring
from tests.leaves import leaf


def hooks(t, pack, unpack):
    return t.autograd.graph.saved_tensors_hooks(pack, unpack)


def same(x):
    return x


# ---------------------------------------------------------------------------------------------- without hooks


def test_custom_function_saved_tensors(t):
    """The node of a Function shows what it saved, until backward has freed it."""
    x = leaf(t, [1.0, 2.0])
    y = squaring(t).apply(x)
    assert y.grad_fn.saved_tensors[0] is x
    (raw,) = y.grad_fn._raw_saved_tensors
    raw.register_hooks(lambda v: v * 10, lambda v: v / 10)
    assert y.grad_fn.saved_tensors[0].tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    for name in ("saved_tensors", "_raw_saved_tensors"):
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(y.grad_fn, name)
    y = x * x
    y.sum().backward()
    with pytest.raises(RuntimeError, match="register_hooks on a saved tensor after it has been freed"):
        y.grad_fn._raw_saved_self.register_hooks(same, same)


def test_no_unnecessary_unwrapping(t):
    """A saved input is the very tensor; a saved result another one with the same values and place."""
    x = leaf(t, [1.0, 2.0])
    assert (x * x).grad_fn._saved_self is x
    assert (x * x).grad_fn._saved_other is x
    y = x.exp()
    saved = y.grad_fn._saved_result
    assert saved is not y
    assert saved.tolist() == y.tolist()
    assert saved.grad_fn is y.grad_fn
    assert (x**3).grad_fn._saved_exponent == 3


def test_saved_variable_version_counter(t):
    """A saved result shares the version of the live one."""
    y = leaf(t, [1.0, 2.0]).exp()
    saved = y.grad_fn._saved_result
    assert saved._version == y._version
    with t.no_grad():
        y += 1
    assert saved._version == y._version == 1
    assert saved.tolist() == y.tolist()


# ---------------------------------------------------------------------------------------------- hooks of a context


def test_unpack_hooks_exec_count(t):
    """Pack runs once per saved value, unpack once per value and backward."""
    counts = {"pack": 0, "unpack": 0}

    def counting(name):
        def hook(v):
            counts[name] += 1
            return v

        return hook

    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    with hooks(t, counting("pack"), counting("unpack")):
        z = x * y
    assert counts == {"pack": 2, "unpack": 0}
    z.sum().backward(retain_graph=True)
    assert counts == {"pack": 2, "unpack": 2}
    z.sum().backward()
    assert counts == {"pack": 2, "unpack": 4}


def test_saved_variable_packing_unpacking_saved_original_with_default_hooks(t):
    """Of a saved input backward sees what unpack gives, which may differ from the input."""
    for unpack, factor in ((lambda v: v / 2, 1.0), (same, 2.0)):
        x = leaf(t, [1.0, 2.0])
        with hooks(t, lambda v: v * 2, unpack):
            y = x**2
        assert y.grad_fn._saved_self.tolist() == [factor * 1.0, factor * 2.0]
        y.sum().backward()
        assert x.grad.tolist() == [factor * 2.0, factor * 4.0]


def test_saved_variable_packing_unpacking_did_not_save_original_with_default_hooks(t):
    """The same for a saved result."""
    for unpack, factor in ((lambda v: v / 2, 1.0), (same, 2.0)):
        x = leaf(t, [1.0, 2.0])
        with hooks(t, lambda v: v * 2, unpack):
            y = x.exp()
        assert y.grad_fn._saved_result.tolist() == (factor * y).tolist()
        y.sum().backward()
        assert x.grad.tolist() == (factor * y).tolist()


def test_setting_default_saved_variable_hooks_twice_should_not_fail(t):
    """Contexts of hooks nest."""
    x = leaf(t, [3.0])
    with hooks(t, same, same), hooks(t, same, same):
        y = x**2
    y.backward()
    assert x.grad.tolist() == [6.0]


def test_setting_default_saved_variable_hooks_twice_should_use_inner(t):
    """The innermost pair counts, the outer one again afterwards."""
    x, y, z = leaf(t, [1.0]), leaf(t, [1.0]), leaf(t, [1.0])
    with hooks(t, lambda v: v * 3, same):
        before = x**2
        with hooks(t, lambda v: v * 5, same):
            inside = y**2
        after = z**2
    (before + inside + after).backward()
    assert (x.grad.item(), y.grad.item(), z.grad.item()) == (6.0, 10.0, 6.0)


def test_disabling_saved_tensor_hooks(t):
    """A context that forbids hooks: entering them raises its message, also where they came first."""
    disabled = t.autograd.graph.disable_saved_tensors_hooks
    with disabled("no hooks, please"), pytest.raises(RuntimeError, match="no hooks, please"), hooks(t, same, same):
        pass
    with hooks(t, same, same), pytest.raises(RuntimeError, match="no hooks, please"), disabled("no hooks, please"):
        pass
    with hooks(t, same, same):
        y = leaf(t, [3.0]) ** 2
    y.backward()


def test_disabling_saved_tensor_hooks_nested(t):
    """Prohibitions nest, each with its own message until its end."""
    disabled = t.autograd.graph.disable_saved_tensors_hooks
    with disabled("outer"):
        with disabled("inner"), pytest.raises(RuntimeError, match="inner"), hooks(t, same, same):
            pass
        with pytest.raises(RuntimeError, match="outer"), hooks(t, same, same):
            pass
    with hooks(t, same, same):
        pass


def test_saved_tensor_hooks_custom_error_propagaation(t):
    """What a hook raises comes out with its type, when packing and when unpacking."""

    class Own(Exception):
        pass

    def fail(v):
        raise Own("mine")

    x = leaf(t, [1.0])
    with pytest.raises(Own, match="mine"), hooks(t, fail, same):
        x**2
    with hooks(t, same, fail):
        y = x**2
    with pytest.raises(Own, match="mine"):
        y.backward()


def test_saved_tensor_hooks_custom_function_intermediates(t):
    """A tensor that a Function made and saved, neither input nor output, goes through the hooks as well."""
    seen = []

    class Exponential(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            between = x.exp()
            ctx.save_for_backward(between.clone().detach_().requires_grad_(True))
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            (between,) = ctx.saved_tensors
            return g * between.detach()

    def pack(v):
        seen.append(v.tolist())
        return v

    x = leaf(t, 1.0)
    with hooks(t, pack, same):
        out = Exponential.apply(x)
    out.backward()
    assert seen == [out.item()]
    assert x.grad.item() == out.item()


def test_save_tensor_hook_version_counter_not_shared(t):
    """A replacement that the pack hook gives has its own version: changing it leaves that of the original alone."""
    versions = []

    class Sine(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            before = x._version
            (saved,) = ctx.saved_tensors
            with t.no_grad():
                saved.detach().add_(1)
            versions.append(x._version - before)
            return g * saved.cos()

    x = leaf(t, [1.0])
    replacement = x.detach().clone()
    with hooks(t, lambda v: replacement, same):
        y = Sine.apply(x)
    y.backward()
    assert versions == [0]
    assert x.tolist() == [1.0]


def test_pack_hook_with_inplace_modification_should_fail(t):
    """A pack hook that changes its argument is refused; one that changes a copy is not."""

    def change(v):
        v += 1
        return v

    x = leaf(t, [1.0, 2.0])
    with hooks(t, change, same):
        with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            x * x
        with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            x.clone().exp()
    with hooks(t, lambda v: change(v.clone()), lambda v: v - 1):
        y = (x * x).sum()
    y.backward()


def test_operands_of_changes_in_place_are_packed_before_the_change(t):
    """What lies in the memory that changes is shown as it was; what the change keeps of its result, as it is then."""
    x, seen = leaf(t, [1.0, 2.0]), []

    def pack(v):
        seen.append(v.tolist())
        return v.clone()

    with hooks(t, pack, same):
        y = x * 1
        y.mul_(y)
        y.view(2, 1).mul_(y.view(2, 1))
        y[0].mul_(y[1])
        y.exp_()
    assert seen[-1] == y.tolist()
    y.log().sum().backward()  # log(y) is (x0 x1)⁴ and x1⁴
    assert x.grad.tolist() == [4 * 16.0, 4 * 8.0 + 4 * 8.0]
    assert seen[:2] == [[1.0, 2.0]] * 2


def test_saving_variable_to_disk(t, tmp_path):
    """Hooks may keep values in files."""
    files = []

    def pack(v):
        files.append(tmp_path / f"{len(files)}.pickle")
        files[-1].write_bytes(pickle.dumps(v.detach().numpy()))
        return files[-1]

    def unpack(file):
        return t.tensor(pickle.loads(file.read_bytes()), dtype=t.float64)

    x = leaf(t, [1.0, 2.0])
    with hooks(t, pack, unpack):
        y = (x.exp() * x).sum()
    y.backward()
    assert len(files) == 3
    assert x.grad.tolist() == ((x + 1) * x.exp()).tolist()


def test_default_saved_variable_hooks_double_backward(t):
    """Hooks at the first order, at the second, at both: each changes the values it packed."""
    doubled = (lambda v: v * 2, same)

    def second(first_order, second_order):
        x = leaf(t, [1.0, 3.0])
        with hooks(t, *first_order):
            y = x**3
        with hooks(t, *second_order):
            (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()
        return x.grad.tolist()

    plain = (same, same)
    assert second(plain, plain) == [6.0, 18.0]
    # the first order reads x, doubled: 3 (2x)², and its derivative by what stands for x is 6 (2x)
    assert second(doubled, plain) == [12.0, 36.0]
    # 1 · 3 x²: what the product saved of its factors and what the power saved are doubled, which makes four times
    assert second(plain, doubled) == [24.0, 72.0]
    assert second(doubled, doubled) == [48.0, 144.0]


def test_wrapped_number_saved_variable_hooks(t):
    """Numbers are not packed."""

    def never(v):
        raise AssertionError("a number was packed")

    x = leaf(t, [1.0, 2.0])
    with hooks(t, never, never):
        out = (x * 3).sum()
    out.backward()
    assert x.grad.tolist() == [3.0, 3.0]


# ---------------------------------------------------------------------------------------------- hooks of one value


def test_saved_variable_packing_unpacking_saved_original_with_hooks(t):
    """Hooks set on one saved input change that value alone, and can be set once."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    z = x * y
    z.grad_fn._raw_saved_self.register_hooks(lambda v: v * 2, same)
    assert z.grad_fn._saved_self.tolist() == [2.0, 4.0]
    assert z.grad_fn._saved_other.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        z.grad_fn._raw_saved_self.register_hooks(same, same)
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    assert y.grad.tolist() == [2.0, 4.0]


def test_saved_variable_packing_unpacking_did_not_save_original_with_hooks(t):
    """The same for a saved result."""
    x = leaf(t, [1.0, 2.0])
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda v: v * 2, same)
    assert y.grad_fn._saved_result.tolist() == (y * 2).tolist()
    y.sum().backward()
    assert x.grad.tolist() == (y * 2).tolist()


# ---------------------------------------------------------------------------------------------- one saved value


def test_get_data_and_hooks_from_raw_saved_variable(t):
    """A saved value shows what is kept and the hook that turns it back: a leaf is kept itself, a result is not."""
    x = leaf(t, [1.0, 2.0])
    with hooks(t, same, same):
        y = x**2
    z = y.exp()
    kept = y.grad_fn._raw_saved_self
    assert kept.data is x
    assert kept.unpack_hook is same
    result = z.grad_fn._raw_saved_result
    assert result.data is not z
    assert result.data.tolist() == z.tolist()
    assert result.unpack_hook is None
    assert isinstance(result, t.autograd.SavedTensor)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        t.autograd.SavedTensor()


def test_saved_tensor_register_hooks_refuses(t):
    """Hooks are two functions of a value that is there."""

    class Pair(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(t, [1.0])
    some, nothing = Pair.apply(x).grad_fn._raw_saved_tensors
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        nothing.register_hooks(same, same)
    for wrong in ((same,), (1, 1)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            some.register_hooks(*wrong)
    product = x.detach() * x
    assert product.grad_fn._saved_other is None  # the gradient of x does not read x
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        product.grad_fn._raw_saved_other.register_hooks(same, same)


def test_pack_hooks_see_leaves_themselves(t):
    """So a hook can leave parameters and constants where they are; other values stand where they stood."""
    x, constant = leaf(t, [1.0, 2.0]), t.ones(2, dtype=t.float64)
    parameter, inner = t.nn.Parameter(t.ones(2, dtype=t.float64)), x * 3
    seen = []

    def pack(v):
        seen.append(v)
        return v

    with hooks(t, pack, same):
        x * constant
        parameter * x
        inner * constant.requires_grad_()
    assert seen[0] is constant
    assert {id(v) for v in seen[1:3]} == {id(parameter), id(x)}
    (middle,) = [v for v in seen[3:] if v is not constant]
    assert middle.grad_fn is inner.grad_fn


def test_checkpointing_without_reentrant_saved_object_identity(t):
    """What an unpack hook gives for a constant is what ``saved_tensors`` shows."""

    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.save_for_backward(by)
            return x * by

        @staticmethod
        def backward(ctx, g):
            (by,) = ctx.saved_tensors
            seen.append(by)
            return g * by, None

    seen = []
    x, by = leaf(t, [1.0, 2.0]), t.tensor([3.0, 4.0], dtype=t.float64)
    with hooks(t, same, same):
        y = Scaled.apply(x, by)
    y.sum().backward()
    t.utils.checkpoint.checkpoint(Scaled.apply, x, by, use_reentrant=False).sum().backward()
    assert [v is by for v in seen] == [True, True]


def test_clear_saved_tensors_on_access(t):
    """A function may have what it saved given away: the first to ask holds it alone, a second one is refused."""
    alive = []

    class Once(t.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            ref = weakref.ref(x)
            del x
            alive.append(ref() is not None)
            with pytest.raises(RuntimeError, match="saved_tensors can only be accessed once"):
                _ = ctx.saved_tensors
            return g

    x = leaf(t, [1.0, 2.0])
    y = Once.apply(x.clone())
    y.sum().backward(retain_graph=True)
    assert alive == [False]
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        y.sum().backward()


def test_grad_fn_sizes(t):
    """Sizes of what a node was given, under torch's names; functions of one step show what they saved."""
    x = t.tensor([[0.5, 0.25, 0.125]] * 2, dtype=t.float64, requires_grad=True)
    assert x.mean().grad_fn._saved_self_sym_sizes == (2, 3)
    assert x.mean().grad_fn._saved_self_sym_numel == 6
    soft = x.softmax(1)
    assert soft.grad_fn._saved_result.tolist() == soft.tolist()
    assert (x @ x.T).grad_fn._saved_mat2_sym_sizes == (3, 2)
    assert (x @ x.T).grad_fn._saved_mat2.tolist() == x.T.tolist()


def test_grad_fn_settings(t):
    """What a function was told, also one of several steps, in torch's form; numbers of what it was given."""
    functional = t.nn.functional
    row, image = t.ones(1, 1, 4, requires_grad=True), t.ones(1, 1, 3, 3, requires_grad=True)
    plain, square = t.full((2, 2), 0.5, requires_grad=True), t.ones(1, 2, 2, requires_grad=True)
    leaky = functional.leaky_relu(plain, 0.25).grad_fn
    assert leaky._saved_negative_slope == 0.25
    for mode in ("trunc", None):
        divided = t.div(plain, 2.0, rounding_mode=mode).grad_fn
        assert (divided.name(), divided._saved_rounding_mode) == ("DivBackward2", mode)
    assert t.logit(plain).grad_fn._saved_eps is None
    assert t.logit(plain, 0.5).grad_fn._saved_eps == 0.5
    for number in (1.0, 1, False):
        assert type(functional.threshold(plain, number, number).grad_fn._saved_threshold) is type(number)
    longer = functional.interpolate(row, 8, mode="linear").grad_fn
    assert (longer._saved_output_size, longer._saved_align_corners, longer._saved_scales) == ((8,), False, None)
    assert functional.interpolate(row, scale_factor=0.5, mode="linear").grad_fn._saved_scales == 0.5
    unfolded = functional.unfold(image, 3).grad_fn
    assert (unfolded._saved_kernel_size, unfolded._saved_self_sym_argsize_minus_1) == ((3, 3), 3)
    assert t.addbmm(plain, square, square).grad_fn._saved_batch1_sym_argsize_1 == 2
    assert functional.mse_loss(plain, t.zeros(2, 2)).grad_fn._saved_reduction == 1
    assert functional.nll_loss(plain, t.tensor([0, 1])).grad_fn._saved_weight is None
    assert plain.as_strided((3,), (1,), 1).grad_fn._saved_storage_offset == 1
    assert plain.as_strided((3,), (1,)).grad_fn._saved_storage_offset is None
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = leaky._saved_nothing


def test_places_in_memory_are_not_saved(t):
    """``as_strided`` keeps sizes and strides, which backward does not free."""
    x = t.ones(2, 3, requires_grad=True)
    view = x.as_strided((2,), (1,))
    (view * view).sum().backward()
    view.sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("name", ["batch_norm", "evaluated", "group_norm", "conv1d", "conv_transpose2d"])
@pytest.mark.parametrize("changed", ["input", "weight", "bias"])
def test_a_bias_may_change_before_backward(t, name, changed):
    """What is only added is not kept for backward; input and weight are, and may not change."""
    functional = t.nn.functional
    mean, variance = t.zeros(2), t.ones(2)
    shapes = {"conv1d": [(1, 2, 5), (2, 2, 3)], "conv_transpose2d": [(1, 2, 3, 3), (2, 2, 1, 1)]}
    x, w = (t.arange(1.0, 1 + np.prod(s)).reshape(s).requires_grad_() for s in shapes.get(name, [(2, 2, 3), (2,)]))
    b = t.ones(2, requires_grad=True)
    calls = {
        "batch_norm": lambda: functional.batch_norm(x, mean, variance, w, b, training=True),
        "evaluated": lambda: functional.batch_norm(x, mean, variance, w, bias=b),
        "group_norm": lambda: functional.group_norm(x, 2, w, b),
    }
    out = (calls.get(name) or (lambda: getattr(functional, name)(x, w, b)))()
    with t.no_grad():
        {"input": x, "weight": w, "bias": b}[changed].mul_(2)
    if changed == "bias":
        out.sum().backward()
        assert b.grad.tolist() == [out.numel() / 2] * 2
    else:
        with pytest.raises(RuntimeError, match="modified by an inplace operation.*is at version 1; expected version 0"):
            out.sum().backward()


@pytest.mark.parametrize("changed", [0, 1])
def test_repeated_parameters_may_change_before_backward(t, changed):
    """An instance norm keeps copies of its weight and bias, one to a sample."""
    x = t.arange(12.0).reshape(2, 2, 3).requires_grad_()
    parameters = [t.tensor([2.0, 3.0], requires_grad=True), t.ones(2, requires_grad=True)]
    found = []
    for change in (False, True):
        out = (t.nn.functional.instance_norm(x, weight=parameters[0], bias=parameters[1]) ** 2).sum()
        if change:
            with t.no_grad():
                parameters[changed].mul_(5)
        found.append(t.autograd.grad(out, x)[0])
    assert t.equal(*found)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("changed", [0, 1])
def test_running_statistics_are_kept_for_backward(t, training, changed):
    """The layer moves them itself without counting that, so it may be called again before backward."""
    running, x = [t.zeros(2), t.ones(2)], t.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    for _ in range(2):
        out = t.nn.functional.batch_norm(x, *running, training=training)
    assert running[changed]._version == 0
    out.sum().backward(retain_graph=True)
    running[changed].mul_(2)
    with pytest.raises(RuntimeError, match=r"inplace operation: \[torch.FloatTensor \[2\]\] is at version 1"):
        out.sum().backward()


@pytest.mark.parametrize("how", ["no_grad", "detached", "through the view"])
def test_changed_views_are_named_by_their_strides(t, how):
    """Nothing recorded the change: torch makes another view of what changed for its words."""
    x = leaf(t, [[1.0, 2.0], [3.0, 4.0]])
    view = x.T
    out = (view * view).sum()
    with t.no_grad():
        {"no_grad": x, "detached": x.detach(), "through the view": view}[how].mul_(2)
    with pytest.raises(RuntimeError, match="output 0 of AsStrided(Backward0)?, is at version 1; expected version 0"):
        out.backward()
