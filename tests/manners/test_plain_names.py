"""Names of torch's plain namespace beside those of its rooms, and other names of arguments."""

from __future__ import annotations

import warnings

import numpy as np
import pytest


def grads(t, call, *tensors):
    """The result of a call and the gradients of its sum."""
    leaves = [x.clone().requires_grad_() for x in tensors]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = call(*leaves)
    return out, t.autograd.grad(out.sum(), leaves, allow_unused=True)


def rows(t, *shape):
    return (t.arange(float(np.prod(shape))) / 7 - 0.8).reshape(shape)


LOSSES = {
    "binary_cross_entropy_with_logits": lambda t, f, **o: f(rows(t, 3, 2), rows(t, 3, 2).sigmoid(), **o),
    "cosine_embedding_loss": lambda t, f, **o: f(rows(t, 3, 2), rows(t, 3, 2).flip(0), t.tensor([1.0, -1.0, 1.0]), **o),
    "ctc_loss": lambda t, f, **o: f(rows(t, 4, 2, 3).log_softmax(-1), t.tensor([[1, 2], [2, 1]]), (4, 4), (2, 1), **o),
    "hinge_embedding_loss": lambda t, f, **o: f(rows(t, 3, 2), t.tensor([[1.0, -1.0]] * 3), **o),
    "kl_div": lambda t, f, **o: f(rows(t, 3, 2), rows(t, 3, 2).softmax(-1), **o),
    "margin_ranking_loss": lambda t, f, **o: f(rows(t, 3), rows(t, 3).flip(0), t.tensor([1.0, -1.0, 1.0]), **o),
    "poisson_nll_loss": lambda t, f, **o: f(rows(t, 3), rows(t, 3).exp(), **o),
    "triplet_margin_loss": lambda t, f, **o: f(rows(t, 3, 2), rows(t, 3, 2).flip(0), rows(t, 3, 2).flip(1), **o),
}


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", LOSSES)
def test_losses_with_the_reduction_as_a_number(t, name):
    plain, whole = getattr(t, name), getattr(t.nn.functional, name)
    more = {"log_input": True, "full": False, "eps": 1e-8} if name == "poisson_nll_loss" else {}
    for number, word in enumerate(("none", "mean", "sum")):
        a = LOSSES[name](t, plain, reduction=number, **more)
        assert a.tolist() == LOSSES[name](t, whole, reduction=word, **more).tolist()
    if not more:
        assert LOSSES[name](t, plain).tolist() == LOSSES[name](t, whole, reduction="none").tolist()
    with pytest.raises(TypeError, match="reduction"):
        LOSSES[name](t, plain, reduction="mean", **more)


def test_the_mean_of_divergences_warns(t):
    x, y = rows(t, 3, 2), rows(t, 3, 2).softmax(-1)
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size") as heard:
        t.nn.functional.kl_div(x, y)
    assert heard[0].filename == (__file__ if t.__name__ == "symgrad" else heard[0].filename)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        t.kl_div(x, y)
        t.nn.functional.kl_div(x, y, reduction="batchmean")


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("initial", [None, 2.0])
def test_segments(t, reduce, initial):
    """Ranges of an axis, with ties and without entries, from an initial value on."""
    x = t.tensor([[1.0, 3.0, 2.0], [3.0, 3.0, 1.0], [0.5, 2.0, 2.0], [-1.0, 4.0, 2.0], [2.0, 2.0, 2.0]])
    lengths = t.tensor([2, 3])
    found, (g,) = grads(t, lambda x: t.segment_reduce(x, reduce, lengths=lengths, initial=initial), x)
    function = {"max": np.max, "min": np.min}.get(reduce) or getattr(np, reduce)
    parts = [np.array(x.tolist())[:2], np.array(x.tolist())[2:]]
    start = [] if initial is None else [np.full((1, 3), initial)]
    expected = [function(np.concatenate([*start, p]), 0) for p in parts]
    if reduce == "mean" and initial is not None:
        expected = [(initial + p.sum(0)) / len(p) for p in parts]
    np.testing.assert_allclose(found.tolist(), expected, rtol=1e-6)
    assert found.grad_fn.name() == "SegmentReduceBackward0"
    if reduce in ("max", "min"):  # ties share
        ties = [np.where(p == e, 1 / np.maximum((p == e).sum(0), 1), 0) for p, e in zip(parts, expected, strict=True)]
        np.testing.assert_allclose(g.tolist(), np.concatenate(ties))
    empty = t.segment_reduce(x, reduce, lengths=t.tensor([0, 5]), initial=initial)[0].tolist()
    alone = {"sum": 0.0, "mean": np.nan, "prod": 1.0, "max": -np.inf, "min": np.inf}[reduce]
    np.testing.assert_array_equal(empty, [alone if initial is None else initial] * 3)


def test_segments_along_a_later_axis(t):
    x = rows(t, 2, 5)
    by_lengths = t.segment_reduce(x, "sum", lengths=t.tensor([[2, 3], [0, 5]]), axis=1)
    by_offsets = t.segment_reduce(x, "sum", offsets=t.tensor([[0, 2, 5], [0, 0, 5]]), axis=1)
    assert by_lengths.tolist() == by_offsets.tolist()
    np.testing.assert_allclose(by_lengths[0].tolist(), [x[0, :2].sum().item(), x[0, 2:].sum().item()], rtol=1e-6)
    for words, options in {
        "Expected all rows of lengths along axis to sum": {"lengths": t.tensor([[1, 2], [2, 3]]), "axis": 1},
        "Either lengths or offsets must be defined": {},
        "indices based reduction is not supported": {"indices": t.tensor([0, 1])},
        "Expected axis to be the last dimension of lengths": {"lengths": t.tensor([1, 1]), "axis": 1},
    }.items():
        with pytest.raises(RuntimeError, match=words):
            t.segment_reduce(x, "sum", **options)


def test_a_convolution_by_time(t):
    x, w, b = rows(t, 5, 2, 3), rows(t, 3, 3, 4), rows(t, 4)
    found, (gx, gw, gb) = grads(t, lambda *a: t.conv_tbc(*a, 1), x, w, b)
    other, (hx, hw, hb) = grads(
        t, lambda x, w, b: t.conv1d(x.permute(1, 2, 0), w.permute(2, 1, 0), b, 1, 1).permute(2, 0, 1), x, w, b
    )
    for a, e in ((found, other), (gx, hx), (gw, hw), (gb, hb)):
        np.testing.assert_allclose(a.detach().numpy(), e.detach().numpy(), rtol=1e-5, atol=1e-5)
    with pytest.raises(RuntimeError, match="Bias size must equal dim 2 in the weight tensor"):
        t.conv_tbc(x, w, rows(t, 3))


def test_old_names_of_products_and_norms(t):
    x = rows(t, 3, 2).requires_grad_()
    with pytest.warns(UserWarning, match="chain_matmul is deprecated"):
        product = t.chain_matmul(x, x.mT, x)
    np.testing.assert_allclose(product.tolist(), (x @ x.mT @ x).tolist(), rtol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert t.frobenius_norm(x, 1, True).tolist() == t.linalg.vector_norm(x, 2, 1, True).tolist()
        assert t.frobenius_norm(x, []).tolist() == t.linalg.vector_norm(x).tolist()
        np.testing.assert_allclose(t.nuclear_norm(x).tolist(), t.linalg.matrix_norm(x, "nuc").tolist(), rtol=1e-6)
        assert t.nuclear_norm(x, (0, 1), keepdim=True).shape == (1, 1)


def test_changes_in_place_as_functions(t):
    x = t.ones(4, 4)
    assert t.dropout_(x, 0.5, True) is x
    assert set(x.reshape(-1).tolist()) <= {0.0, 2.0}
    assert t.feature_dropout(t.ones(3, 4, 2), 0.5, False).tolist() == t.ones(3, 4, 2).tolist()
    y = t.tensor([4, 6])
    assert t.gcd_(y, t.tensor([6, 9])) is y
    assert y.tolist() == [2, 3]
    assert t.lcm_(y, t.tensor([3, 3])).tolist() == [6, 3]


def test_a_function_of_three_entries(t):
    x = t.ones(2)
    assert x.map2_(t.zeros(2), t.tensor([3.0, 4.0]), lambda a, b, c: a + b * c + c) is x
    assert x.tolist() == [4.0, 5.0]
    with pytest.raises(RuntimeError, match="Can't call map2_\\(\\) on Variable that requires grad"):
        t.ones(2, requires_grad=True).map2_(x, x, lambda a, b, c: a)
    with pytest.raises(TypeError, match="expected"):
        x.map2_(x.double(), x, lambda a, b, c: a)


def test_the_order_of_axes_in_memory(t):
    x = t.ones(2, 3, 4)
    assert x.dim_order() == (0, 1, 2)
    assert x.permute(2, 0, 1).dim_order() == (1, 2, 0)
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        t.ones(1, 3).expand(4, 3).dim_order(ambiguity_check=True)
    one = t.ones(1, 2, 3, 4)
    assert one.dim_order(ambiguity_check=[t.contiguous_format, t.channels_last]) == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        one.dim_order(ambiguity_check=[t.channels_last])
    with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
        one.dim_order(ambiguity_check="contiguous")


def test_half_precision_of_itself_is_off(t):
    with pytest.warns(UserWarning, match="Disabling autocast"):
        context = t.autocast("cuda")
    with context:
        assert (rows(t, 2, 2) @ rows(t, 2, 2)).dtype == t.float32
    with t.autocast("cpu", enabled=False):
        assert not t.is_autocast_enabled()
    if t.__name__ == "symgrad":
        pytest.importorskip("ml_dtypes")
        with pytest.raises(NotImplementedError, match=r"cast what is to be narrow \(x.bfloat16\(\)\)"):
            t.autocast("cpu", dtype=t.bfloat16)


WORDS = {
    "pow": {"input": (3,), "exponent": 2},
    "clamp_min": {"input": (3,), "min": 0.1},
    "clamp_max": {"input": (3,), "max": 0.1},
    "max": {"input": (3,), "other": (3,)},
    "add": {"input": (3,), "other": (3,)},
    "sub": {"input": (3,), "other": (3,), "alpha": 2},
    "hstack": {"tensors": [(3,), (2,)]},
    "split": {"tensor": (3,), "split_size_or_sections": 2},
    "expand_copy": {"input": (1, 3), "size": (2, 3)},
    "tensordot": {"a": (2, 2), "b": (2, 2), "dims": 1},
    "logdet": {"input": (1, 1)},
    "polygamma": {"n": 1, "input": (3,)},
    "linalg.cond": {"input": (2, 2)},
    "linalg.matrix_power": {"input": (2, 2), "n": 3},
    "linalg.tensorinv": {"input": (2, 2), "ind": 1},
    "linalg.tensorsolve": {"input": (2, 2), "other": (2,)},
    "linalg.multi_dot": {"tensors": [(2, 3), (3, 2)]},
    "linalg.vector_norm": {"x": (3,)},
    "special.chebyshev_polynomial_t": {"x": (3,), "n": 2},
}


@pytest.mark.parametrize("name", WORDS)
def test_arguments_by_name(t, name):
    """Torch's names of arguments, all of them by name, of tensors with gradients."""

    def given(value):
        if isinstance(value, list):
            return [given(v) for v in value]
        made = rows(t, *value) ** 2 + 1.5 if isinstance(value, tuple) and not name.endswith("copy") else value
        return made + t.eye(len(made)) if getattr(made, "ndim", 0) == 2 and len(made) == made.shape[1] else made

    kwargs = {key: given(value) for key, value in WORDS[name].items()}
    if name == "expand_copy":
        kwargs["input"] = rows(t, 1, 3)
    first = next(value for value in kwargs.values() if isinstance(value, t.Tensor) or isinstance(value, list))
    (first[0] if isinstance(first, list) else first).requires_grad_()
    call = t
    for part in name.split("."):
        call = getattr(call, part)
    if name.startswith("special.") and t.__name__ == "torch":
        (first.detach_(),)  # torch has no derivative of it
    found = call(**kwargs)
    by_place = call(*kwargs.values()) if "alpha" not in kwargs else call(kwargs["input"], kwargs["other"], alpha=2)
    flat = [x if isinstance(x, tuple) else (x,) for x in (found, by_place)]
    assert [x.tolist() for x in flat[0]] == [x.tolist() for x in flat[1]]


def test_arguments_of_methods_by_name(t):
    x = t.tensor([1.5, 2.5], requires_grad=True)
    assert x.pow(exponent=2).tolist() == [2.25, 6.25]
    assert x.clone().pow_(exponent=2).tolist() == [2.25, 6.25]
    assert x.max(other=t.tensor([2.0, 2.0])).tolist() == [2.0, 2.5]
    assert [part.tolist() for part in x.split(split_size=1)] == [[1.5], [2.5]]
    np.testing.assert_allclose(x.polygamma(n=1).tolist(), t.polygamma(1, x).tolist())
    assert x.clamp_min(min=2.0).tolist() == [2.0, 2.5]


def test_functions_that_are_marked_for_half_precision(t):
    """Outside of ``autocast`` the marks do nothing."""

    class Cubed(t.autograd.Function):
        @staticmethod
        @t.amp.custom_fwd(device_type="cpu", cast_inputs=t.float16)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @t.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = t.tensor([1.0, 2.001], requires_grad=True)
    with t.amp.autocast("cpu", enabled=False):
        y = Cubed.apply(x)
    y.sum().backward()
    assert y.dtype == x.grad.dtype == t.float32
    assert x.grad.tolist() == (3 * x.detach() ** 2).tolist()
    for mark in (t.amp.custom_fwd, t.amp.custom_bwd):
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
            mark(device_type=0)
        with pytest.raises(TypeError, match="device_type"):
            mark(abs)
