"""What hooks may return, what Functions and modes take: small print that PyTorch's tests touch in passing."""

from __future__ import annotations

import importlib

import pytest

from tests.leaves import leaf

# ---------------------------------------------------------------------------------------------- answers of hooks


def answer(value):
    """A hook with a name that gives ``value(t)`` whatever it gets."""

    def giver(*_):
        return value

    return giver


def test_wrong_answers_of_tensor_hooks(t):
    """A tensor of the same shape and dtype, or None; all else is refused by the name of the hook."""
    for value, kind, words in (
        (3, TypeError, "expected Variable, but hook returned 'int'"),
        (t.ones(5, dtype=t.float64), RuntimeError, "hook 'giver' has changed the size of value"),
        (t.ones(5, dtype=t.float32), RuntimeError, r"type of value \(was torch.DoubleTensor got torch.FloatTensor\)"),
    ):
        x = leaf(t, [1.0, 2.0])
        x.register_hook(answer(value))
        with pytest.raises(kind, match=words):
            x.sum().backward()


@pytest.mark.parametrize("place", ["before", "after", "accumulation"])
def test_wrong_answers_of_node_hooks(t, place):
    """A tuple with as many gradients as went in, each a tensor of the same shape or None."""
    one = t.ones(2, dtype=t.float64)
    for value, kind, words in (
        (one, TypeError, "expected tuple, but hook returned 'Tensor'"),
        ([one], TypeError, "expected tuple, but hook returned 'list'"),
        ((3,), TypeError, "expected Variable, but hook returned 'int'"),
        ((t.ones(5, dtype=t.float64),), RuntimeError, "hook 'giver' has changed the size of value"),
        ((one, one), RuntimeError, "hook 'giver' has returned an incorrect number of values"),
    ):
        y = leaf(t, [1.0, 2.0]).exp()
        node = y.grad_fn.next_functions[0][0] if place == "accumulation" else y.grad_fn
        (node.register_hook if place == "after" else node.register_prehook)(answer(value))
        with pytest.raises(kind, match=words):
            y.sum().backward()


def test_prehook_may_end_the_gradient(t):
    """None in the tuple: nothing goes on."""
    x = leaf(t, [1.0, 2.0])
    y = x.exp()
    y.grad_fn.register_prehook(lambda gs: (None,))
    y.sum().backward()
    assert x.grad is None


# ---------------------------------------------------------------------------------------------- Functions


def test_arguments_by_keyword(t):
    """apply takes the arguments of forward by keyword, too; each has its place among the gradients."""

    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor=2, y=None):
            ctx.factor = factor
            return x * factor + (0 if y is None else y)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, g

    x, y = leaf(t, [1.0]), leaf(t, [5.0])
    out = Scaled.apply(x, factor=3, y=y)
    assert out.tolist() == [8.0]
    out.backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 1.0)
    with pytest.raises(TypeError):
        Scaled.apply(x, nothing=3)


def test_vjp_instead_of_backward(t):
    """vjp is another name for backward; both together are refused."""

    class ByVjp(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    class Both(ByVjp):
        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(t, [1.0])
    ByVjp.apply(x).backward()
    assert x.grad.tolist() == [2.0]
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp' for a custom Function is not allow"):
        Both.apply(x).backward()


def test_wrong_kind_of_gradient(t):
    """backward gives tensors or None."""

    class Three(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return 3

    with pytest.raises((RuntimeError, TypeError), match=r"expected (Variable|a tensor) or None"):
        Three.apply(leaf(t, [1.0])).backward()


def test_node_is_the_context(t):
    """What forward left on ctx can be read and set on the node; the node's class belongs to the Function."""

    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 3
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor

    x = leaf(t, [1.0])
    y = Scaled.apply(x)
    assert y.grad_fn.factor == 3
    y.grad_fn.factor = 5
    y.backward()
    assert x.grad.tolist() == [5.0]
    assert type(y.grad_fn) is Scaled._backward_cls
    assert y.grad_fn.needs_input_grad == (True,)


def test_inplace_function(t):
    """The old base class of Functions that change their input is still there."""
    base = importlib.import_module(f"{t.__name__}.autograd.function").InplaceFunction
    assert issubclass(base, t.autograd.Function)


# ---------------------------------------------------------------------------------------------- calls and modes


def test_old_names_of_backward(t):
    """grad_variables warns and works; together with grad_tensors it is refused; gradients are tensors."""
    x, one = leaf(t, [1.0]), t.ones(1, dtype=t.float64)
    with pytest.warns((DeprecationWarning, FutureWarning, UserWarning), match="`grad_variables` is deprecated"):
        t.autograd.backward(x * 2, grad_variables=one)
    assert x.grad.tolist() == [2.0]
    with (
        pytest.warns((DeprecationWarning, FutureWarning, UserWarning), match="`grad_variables` is deprecated"),
        pytest.raises(RuntimeError, match="`grad_tensors` and `grad_variables`"),
    ):
        t.autograd.backward(x * 2, grad_tensors=one, grad_variables=one)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got int"):
        t.autograd.backward([x * 2], [3])


def test_modes_are_objects(t):
    """A mode can be copied; set_grad_enabled takes a bool; threads of backward can be forbidden."""
    assert isinstance(t.no_grad().clone(), t.no_grad)
    mode = t.set_grad_enabled(True).clone()
    assert isinstance(mode, t.set_grad_enabled)
    for wrong in ("yes", 1, None):
        with pytest.raises(TypeError, match="must be bool, not"):
            t.set_grad_enabled(wrong)
    assert t.is_grad_enabled()
    x = leaf(t, [1.0])
    threads = t.autograd.set_multithreading_enabled
    with threads(False):
        (x * 2).backward()
        assert not t.autograd.is_multithreading_enabled()
        threads(True)
        assert t.autograd.is_multithreading_enabled()
    assert x.grad.tolist() == [2.0]
    assert t.autograd.is_multithreading_enabled()
    threads(False)  # as a function it counts from here on
    assert not t.autograd.is_multithreading_enabled()
    threads(True)


def test_notes_on_an_accumulation_node(t):
    """An accumulation node has metadata, too; settings of an operation are among what its node saved."""
    x = t.ones(2, 3, requires_grad=True)
    y = x.sum(dim=1)
    node = y.grad_fn.next_functions[0][0]
    node.metadata["note"] = 1
    assert y.grad_fn.next_functions[0][0].metadata == {"note": 1}
    assert y.grad_fn._saved_dim == (1,)
    assert y.grad_fn._saved_keepdim is False


@pytest.mark.parametrize("call", ["t.tensor(0.5)[None]", "t.ones(2, 3)[None]", "t.ones(2, 3)[:, None]",
                                  "t.ones(2, 3).t().unsqueeze(1)", "t.ones(3).broadcast_to(2, 3).clone()",
                                  "t.ones(3).broadcast_to(2, 3).double()", "t.ones(2, 3).t().erf()",
                                  "t.ones(2, 3).t().clone()", "t.ones(2, 3).t().lgamma()"])  # fmt: skip
def test_strides(t, call):
    """New axes have the stride of what is beside them; copies lie as what they were made of unless it repeats."""
    want = {
        "t.tensor(0.5)[None]": (1,),
        "t.ones(2, 3)[None]": (6, 3, 1),
        "t.ones(2, 3)[:, None]": (3, 3, 1),
        "t.ones(2, 3).t().unsqueeze(1)": (1, 6, 3),
    }
    default = (3, 1) if "broadcast" in call else (1, 3)
    assert eval(call, {"t": t}).stride() == want.get(call, default)


@pytest.mark.filterwarnings("ignore")
def test_losses_of_numbers_without_axes(t):
    """A target without axes counts with its dtype in full, since the loss expands it first."""
    a, b = t.zeros(2, 3, dtype=t.float16), t.tensor(2.0, dtype=t.float64)
    for loss in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        assert getattr(t.nn.functional, loss)(a, b).dtype == t.float64


def test_index_of_an_empty_axis(t):
    """There is no place 0 on an axis without any."""
    for call in ("index_fill(1, i, 0.5)", "index_copy(1, i, s)"):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            eval(f"x.{call}", {"x": t.zeros(2, 0), "i": t.tensor([0]), "s": t.ones(2, 1)})
        assert isinstance(caught.value, RuntimeError)


@pytest.mark.filterwarnings("ignore")
def test_recorded_gradient_has_its_own_memory(t):
    """``.grad`` of a recorded pass is a copy, so it can be changed in place."""
    x = t.tensor([[1.0, 2.0]], requires_grad=True)
    x.mean().backward(create_graph=True)
    assert x.grad.is_contiguous()
    x.grad.mul_(2)
    assert x.grad.tolist() == [[1.0, 1.0]]


def test_view_of_protected_memory(t):
    """Whatever views of views are made of, memory can be written to through them."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]])
    part = x.diagonal().data.unfold(0, 1, 1)[1:]
    part *= 0.5
    assert x.tolist() == [[1.0, 2.0], [3.0, 2.0]]


@pytest.mark.filterwarnings("ignore")
def test_index_fill_of_repeated_entries(t):
    """One value may be filled into a view that shows entries twice."""
    x = t.tensor([1.0, 2.0])
    x.expand(2, 2).index_fill_(0, t.tensor([0]), 0.25)
    assert x.tolist() == [0.25, 0.25]


@pytest.mark.parametrize("call", ["index_add(0, i, t.ones(1, 3))", "index_add(0, i, t.ones(2, 2))",
                                  "index_add_(0, i[:1], t.ones(2, 3))", "index_copy(0, i, t.ones(1, 3))",
                                  "index_copy(0, i, t.ones(2, 2))"])  # fmt: skip
def test_slices_that_do_not_fit(t, call):
    """As many slices as places, of the shape of those they go to: nothing is broadcast."""
    with pytest.raises((RuntimeError, IndexError), match=r"Number of indices|must match|[sS]ource"):
        eval(f"x.{call}", {"t": t, "x": t.ones(2, 3), "i": t.tensor([0, 1])})


def test_parts_of_a_view_that_repeats(t):
    """A part that shows every entry once may be written to, though the whole shows some of them twice."""
    x = t.tensor([1.0, 2.0])
    v = x.expand(2, 2)
    v[0] = 3.0
    v[1, 0] = 4.0
    assert x.tolist() == [4.0, 3.0]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        v[...] = 5.0


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "rand_like"])
def test_layout_of_new_tensors(t, name):
    """A tensor made like another lies in memory like it."""
    assert getattr(t, name)(t.zeros(2, 3).t()).stride() == (1, 3)
    assert getattr(t, name)(t.zeros(3).expand(2, 3)).stride() == (3, 1)


def test_real_gradient_of_a_complex_output(t):
    """The gradient that a pass starts from is as complex as the output."""
    z = t.tensor([1 + 1j], requires_grad=True)
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        (z * 2).backward(t.ones(1))


def test_sign_of_truth_values_has_memory_of_its_own(t):
    x = t.tensor([False, True])
    x.sign().fill_(True)
    assert x.tolist() == [False, True]


@pytest.mark.parametrize(
    ("call", "kernel"),
    [
        ("z.cummax(0)", "cummax_cpu"),
        ("z.cummin(0)", "cummin_cpu"),
        ("z.median()", "median_cpu"),
        ("z.nanmedian()", "median_cpu"),
        ("z.amax()", "max_values_cpu"),
        ("z.amin()", "min_values_cpu"),
        ("z.erfinv()", "erfinv_vml_cpu"),
        ("z.polygamma(2)", "polygamma"),
        ("z.igamma(z)", "igamma_cpu"),
        ("z.igammac(z)", "igammac_cpu"),
        ("t.searchsorted(z, z)", "searchsorted_out_cpu"),
        ("t.special.ndtri(z)", "ndtri_cpu"),
        ("t.special.log_ndtr(z)", "log_ndtr_cpu"),
        ("t.special.erfcx(z)", "erfcx_cpu"),
        ("t.special.zeta(z, z)", "zeta_cpu"),
        ("t.special.hermite_polynomial_h(z, 3)", "hermite_polynomial_h_cpu"),
        ("z.scatter_reduce(0, t.tensor([0, 1]), z, 'amax')", "scatter_gather_tensor_cpu_reduce_amax"),
        ("z.scatter_reduce(0, t.tensor([0, 1]), z, 'amin')", "scatter_gather_tensor_cpu_reduce_amin"),
    ],
)
def test_kernels_that_complex_numbers_do_not_have(t, call, kernel):
    """The error names the function that was called, and no part of it."""
    with pytest.raises(NotImplementedError, match=f"\"{kernel}\" not implemented for 'ComplexFloat'"):
        eval(call, {"t": t, "z": t.tensor([1 + 1j, 2.0])})


def test_changed_and_joined_without_entries(t):
    """A recorded pass through a change in place gets by with what nothing came of."""
    x = t.zeros(0, requires_grad=True)
    part = x[1:]
    total = part + x
    total[:-1] += -1.5
    joined = t.hstack([total, part])
    (g,) = t.autograd.grad((joined * joined).sum(), part, create_graph=True)
    assert g.shape == (0,)
    assert not g.requires_grad


def test_words_of_refused_changes(t):
    """What cannot be resized, filled or asked for a gradient is told in the same words."""
    x = t.ones(3, requires_grad=True)
    for call in (lambda: (x * 1).resize_(3), lambda: (x * 1).resize_(4), lambda: x.resize_as_(t.ones(3))):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            call()
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        t.ones(3).fill_diagonal_(1)
    with pytest.raises(RuntimeError, match="all dimensions of input must be of equal length"):
        t.ones(2, 3, 2).fill_diagonal_(1)
    counts = t.ones(3, dtype=t.int64)
    with pytest.raises(RuntimeError, match="only Tensors of floating point and complex dtype can require gradients"):
        counts.requires_grad = True
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
        counts.requires_grad_()
