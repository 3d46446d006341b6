"""Operands that a change in place makes stale: those that lie in the changed memory, and those kept whole."""

from __future__ import annotations

import numpy as np
import pytest

from tests.functions import squaring


@pytest.mark.parametrize("change", ["v.mul_(v)", "v.div_(v)", "v.pow_(v)", "v.addcmul_(v, v)", "v.addcdiv_(v, v)",
                                    "v.lerp_(v, v)", "v.mul_(v.detach())", "v.mul_(v.view(-1))", "v.clamp_(v, v)",
                                    "v[:1].pow_(v.detach()[1:])", "v.copysign_(v.detach()).mul_(v)"])  # fmt: skip
def test_saved_argument_is_what_changes(t, change):
    """An operand that lies in the memory being changed is saved as any other, and stale at once."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    v = x * 1
    eval(change, {"v": v})
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        v.sum().backward()


@pytest.mark.parametrize("change", ["v.add_(v)", "v.sub_(v, alpha=2)", "v.lerp_(v, 0.5)",
                                    "v.addcdiv_(v, v.detach() + 1)",
                                    "v.masked_fill_(v > 0, v[0])", "v.sin_()"])  # fmt: skip
def test_unsaved_argument_is_what_changes(t, change):
    """Where the derivative does not need the old contents of another operand, all is well."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    v = x * 1
    eval(change, {"v": v})
    v.sum().backward()
    assert x.grad.shape == (2,)


@pytest.mark.parametrize("call", ["index_add(a, 0, i, b)", "index_copy(a, 0, i, b)",
                                  "nn.functional.threshold(b, 0.0, 1.0)",
                                  "lerp(a, b, a)", "lerp(b, a, a)"])  # fmt: skip
def test_operands_that_are_kept_whole(t, call):
    """Operands that torch keeps though the derivative would get by with less."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    a, b, i = x * 1, x * 2, t.tensor([0, 1])
    y = eval(f"t.{call}", {"t": t, "a": a, "b": b, "i": i})
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("call", ["complex(a, b)", "fft.rfft(b)", "fft.fft(b)", "fft.ifft(b, 2)",
                                  "nn.functional.softplus(b)", "nn.functional.softplus(b, 3, 0.1)",
                                  "nn.functional.soft_margin_loss(b, a.detach())",
                                  "nn.functional.binary_cross_entropy(a.detach() / 4, b)",
                                  "nn.functional.binary_cross_entropy_with_logits(a.detach(), b)",
                                  "nn.functional.prelu(a.detach() - 1.5, b[:1])",
                                  "scatter_reduce(a, 0, i, b, 'sum')"])  # fmt: skip
def test_more_operands_that_are_kept_whole(t, call):
    """The same of what is only read for its sizes, or for its entries under other options."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    a, b, i = x * 1, x / 4, t.tensor([0, 1])
    y = eval(f"t.{call}", {"t": t, "a": a, "b": b, "i": i})
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.abs().sum().backward()


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
@pytest.mark.parametrize("call", ["2 / x", "1 / x", "-0.5 / x", "True / x", "np.float64(2) / x", "t.special.ndtr(x)",
                                  "t.frexp(x)[0]"])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_operands_that_something_was_made_of(t, call, shape, dtype):
    """What torch saves in their place stays what it was: they may change, and so may the result."""
    leaf = t.full(shape, 0.75, dtype=getattr(t, dtype), requires_grad=True)
    wanted = t.autograd.grad(eval(call, {"x": leaf, "t": t, "np": np}).sum(), leaf)[0]
    x = leaf.clone()
    y = eval(call, {"x": x, "t": t, "np": np})
    x.mul_(3)
    y.mul_(2)
    y.sum().backward()
    assert leaf.grad.tolist() == (2 * wanted).tolist()
    x = leaf.clone()
    first = t.autograd.grad(eval(call, {"x": x, "t": t, "np": np}).sum(), x, create_graph=True)[0]
    assert first.tolist() == wanted.tolist()


def test_a_parameter_under_a_number_is_trained(t):
    """A leaf may be changed without grad between the forward pass and backward."""
    w = t.tensor([1.0, 2.0], requires_grad=True)
    y = (1 / w).sum()
    with t.no_grad():
        w.add_(1)
    y.backward()
    assert w.grad.tolist() == [-1.0, -0.25]


@pytest.mark.parametrize("call", ["b / x", "b * x", "x.double() * x"])
def test_operands_of_another_dtype(t, call):
    """An operand that is cast for the operation is saved as it was given, so its changes are seen."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    b, i = t.tensor([True, False]), t.tensor([1, 2])
    y = eval(call, {"x": x, "b": b, "i": i})
    with t.no_grad():
        b[0] = False
        i.add_(1)
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("call", ["x.max()", "x.min()", "x.prod()", "x.sum().softmax(0)", "t.copysign(x, x.detach())",
                                  "t.linalg.cholesky(t.diag(x), upper=True)", "t.linalg.solve(t.diag(x), x.detach())",
                                  "t.linalg.lstsq(t.diag(x), x.detach()[:, None])[0]", "t.special.i1(x)",
                                  "t.special.log_ndtr(x)", "t.special.erfcx(x)",
                                  "t.linalg.lu_factor(t.diag(x)[:1])[0]", "t.linalg.lu(t.diag(x)[:1])[1]",
                                  "t.linalg.lu(t.diag(x)[:1])[2]"])  # fmt: skip
def test_results_that_are_kept(t, call):
    """Functions that save their result, though the derivative here is made of other things."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = eval(call, {"t": t, "x": x})
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_places_are_kept_apart(t):
    """The extreme along an axis saves where it was, which nobody can change."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x.max(dim=0)[0]
    y.mul_(2)
    y.backward()
    assert x.grad.tolist() == [0.0, 2.0]


def test_detached_in_place(t):
    """``detach_`` takes an operand from who saved it; a custom function keeps its place."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    a, b = x * 2, x * 3
    product = a * b
    b.detach_()
    with pytest.raises(RuntimeError, match="detached in-place"):
        product.sum().backward()


def test_number_that_was_looked_at(t):
    """A 0-d result that was looked at in many ways is stale all the same once it is changed."""
    x = t.tensor([-0.25], requires_grad=True)
    y = x.norm()
    y.detach()
    (g,) = t.autograd.grad(y.tanh().pow(2), x, create_graph=True)
    y.detach()
    loss = (g * g).sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("value", [2.0, [1.0, 2.0]])
def test_data_that_was_saved(t, value):
    """A change through ``.data`` is hidden from all but those who saved that very tensor."""
    x = t.tensor(value, requires_grad=True)
    y = x.data
    product = x * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    square = x * x
    x.data.add_(1)
    square.sum().backward()
    assert x.grad.tolist() == (2 * x.detach()).tolist()


@pytest.mark.parametrize(
    ("call", "slope"),
    [("v.sin()", [-0.4161468, -0.6536436]), ("v ** 3", [12.0, 48.0]), ("v * v", [4.0, 8.0]), ("v.exp()", None)],
)
@pytest.mark.parametrize("inner", [False, True])
def test_other_data_are_read_by_who_saved_an_operand(t, call, slope, inner):
    """Derivatives take an operand as it is by then; a result that was saved is not made again."""
    x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    v = x * 1 if inner else x
    y = eval(call, {"v": v})
    v.data = v.data * 2
    (g,) = t.autograd.grad(y.sum(), x)
    assert g.tolist() == pytest.approx(y.tolist() if slope is None else slope)


def test_other_data_in_a_function(t):
    """What a function saved of its arguments is those arguments; data set before it ran are nothing new."""
    x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    x.data = x.data * 3
    y = squaring(t).apply(x)
    (g,) = t.autograd.grad(y.sum(), x, retain_graph=True)
    assert g.tolist() == [6.0, 12.0]
    x.data = x.data * 2
    (g,) = t.autograd.grad(y.sum(), x)
    assert g.tolist() == [12.0, 24.0]


@pytest.mark.parametrize("call", ["x.norm()", "x.prod().exp()", "x.sum().sqrt()"])
def test_numbers_changed_through_data(t, call):
    """A saved result without axes is read as it was changed, too."""
    slopes = []
    for factor in (1, 4):
        x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
        y = eval(call, {"x": x})
        y.data.mul_(factor)
        slopes.append(t.autograd.grad(y, x)[0].tolist())
    scale = {"x.norm()": 1 / 4, "x.prod().exp()": 4, "x.sum().sqrt()": 1 / 4}[call]
    assert slopes[1] == pytest.approx([scale * v for v in slopes[0]])


def test_factors_in_half_precision(t):
    """A product of matrices saves its factors themselves, not what they are in float32."""
    x = t.tensor([[1.5, 2.5], [3.5, 4.5]], dtype=t.float16, requires_grad=True)
    v = x * 1
    out = t.nn.functional.linear(v, v)
    v.floor_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


READ_AGAIN = """smooth_l1_loss(x, y) / smooth_l1_loss(x, y, beta=0.3) / huber_loss(x, y) / huber_loss(x, y, delta=0.2)
binary_cross_entropy_with_logits(x, y) / soft_margin_loss(x, y.sign()) / glu(x) / hardtanh(x) / relu6(x)
threshold(x, 0.5, 2.0) / hardshrink(x, 0.4) / softshrink(x, 0.4) / softplus(x, beta=3.0) / hardsigmoid(x)
multi_margin_loss(x, t.tensor([0, 1]))"""


@pytest.mark.parametrize("change", ["x.data.mul_(-0.5)", "x.data = x.data * -0.5"])
@pytest.mark.parametrize("call", [call.strip() for line in READ_AGAIN.splitlines() for call in line.split("/")])
def test_operands_that_are_read_again(t, call, change):
    """What a derivative reads of an operand in torch it reads as it is by then, also where it is made in steps here."""
    start, y = [[1.0, -2.0], [0.3, 0.7]], t.tensor([[0.5, 1.0], [1.0, 2.0]])
    f = eval(f"lambda x: t.nn.functional.{call}.sum()", {"t": t, "y": y})
    x = t.tensor(start, requires_grad=True)
    out = f(x)
    exec(change, {"x": x})
    out.backward()
    there = t.tensor(x.tolist(), requires_grad=True)
    f(there).backward()
    assert x.grad.reshape(-1).tolist() == pytest.approx(there.grad.reshape(-1).tolist())


@pytest.mark.parametrize("change", ["x.data.mul_(0.5)", "x.data = x.data * 0.5"])
@pytest.mark.parametrize(
    ("call", "slopes"),
    [
        ("x.prod()", [1.2, 0.6]),  # the product there was, divided by what there is
        ("x.median()", [0.0, 1.0]),  # the entry that is by now what the median was
        ("x.median(dim=1)[0]", [1.0, 0.0]),  # a place, which stays
        ("x.logit(0.1)", [1 / (0.15 * 0.85), 1 / (0.3 * 0.7)]),
        ("t.float_power(x, 3.0)", [3 * 0.15**2, 3 * 0.3**2]),
    ],
)
def test_results_are_kept_and_operands_read_again(t, call, slopes, change):
    """What is made of an operand and the result takes the one as it is by then, and the other as it was."""
    x = t.tensor([[0.3, 0.6]], dtype=t.float64, requires_grad=True)
    y = eval(call, {"t": t, "x": x})
    exec(change, {"x": x})
    (g,) = t.autograd.grad(y.sum(), x)
    assert g.tolist() == [pytest.approx(slopes)]


def test_vectors_of_an_update_are_read_again(t):
    """The slope of an outer product that is added is the other vector as it is by then."""
    x, y = t.tensor([0.3, 0.6], requires_grad=True), t.tensor([1.0, 2.0], requires_grad=True)
    out = t.addr(t.zeros(2, 2), x, y)
    x.data = x.data * 0.5
    assert t.autograd.grad(out.sum(), y)[0].tolist() == pytest.approx([0.45, 0.45])


@pytest.mark.parametrize(
    ("call", "change"),
    [
        *[("dist(x, y)", change) for change in ("x.data.mul_(3.0)", "x.data = x.data * 3", "y.data.mul_(3.0)")],
        *[("cdist(x[None], y[None])", change) for change in ("x.data.mul_(3.0)", "y.data.mul_(3.0)")],
    ],
)
def test_distances_are_kept_and_points_read_again(t, call, change):
    """The derivative of a distance divides the difference there is by the distance there was; a second pass does so."""
    x, y = t.tensor([3.0, 4.0], requires_grad=True), t.tensor([1.0, 1.0], requires_grad=True)
    out = eval(f"t.{call}", {"t": t, "x": x, "y": y})
    was = out.item()
    exec(change, {"x": x, "y": y})
    for _ in range(2):
        (g,) = t.autograd.grad(out.sum(), x, retain_graph=True)
        assert g.tolist() == pytest.approx(((x - y) / was).tolist())


def test_open_changes_of_what_is_read_again(t):
    """Other changes stay errors."""
    x = t.tensor([3.0, 4.0], requires_grad=True)
    v = x * 1
    out = t.nn.functional.huber_loss(v, t.ones(2))
    v.data.mul_(2)
    v.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_the_first_vector_of_an_outer_product_is_read_as_it_was(t):
    """torch saves a view of it, and so the memory that it had; the second one is saved as it is given."""
    a, b = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([3.0, 4.0], requires_grad=True)
    out = t.outer(a, b).sum()
    a.data, b.data = a.data * 2, b.data * 2
    ga, gb = t.autograd.grad(out, [a, b])
    assert (ga.tolist(), gb.tolist()) == ([14.0, 14.0], [3.0, 3.0])


KEPT_AS_THEY_WERE = """linalg.det(x) / logdet(x) / slogdet(x)[1] / linalg.slogdet(x)[1] / linalg.solve(x, y)
nn.functional.logsigmoid(x) / nn.functional.cross_entropy(x, t.tensor([1, 0])) / nn.functional.cross_entropy(x, y)
nn.functional.cross_entropy(x, t.tensor([1, 0]), weight=y[0]) / frexp(x)[0]"""


@pytest.mark.parametrize("change", ["x.data.mul_(0.3)", "x.data = x.data * 0.3"])
@pytest.mark.parametrize("call", [call.strip() for line in KEPT_AS_THEY_WERE.splitlines() for call in line.split("/")])
def test_operands_of_which_something_was_made_that_is_kept(t, call, change):
    """torch saves LU factors, logarithms of a softmax, exponents: a pass does not see other data."""
    y = t.tensor([[0.3, 0.7], [0.6, 0.4]])
    x = t.tensor([[2.0, 0.5], [0.3, 1.5]], requires_grad=True)
    out = eval(f"t.{call}", {"t": t, "x": x, "y": y}).sum()
    (there,) = t.autograd.grad(out, x, retain_graph=True)
    exec(change, {"x": x})
    (g,) = t.autograd.grad(out, x)
    assert g.reshape(-1).tolist() == pytest.approx(there.reshape(-1).tolist())


@pytest.mark.parametrize("call", ["t.det(v)", "t.logdet(v)", "t.linalg.solve(v, v)", "t.nn.functional.logsigmoid(v)"])
def test_open_changes_of_what_factors_were_made_of(t, call):
    """torch saves the operand beside its factors, and objects when it changed."""
    x = t.tensor([[2.0, 0.5], [0.3, 1.5]], requires_grad=True)
    v = x * 1
    out = eval(call, {"t": t, "v": v}).sum()
    v.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_logits_may_change_after_cross_entropy(t):
    """Of them torch keeps the logarithms of their softmax, and nothing else."""
    x = t.tensor([[2.0, 0.5]], requires_grad=True)
    v = x * 1
    out = t.nn.functional.cross_entropy(v, t.tensor([1]))
    v.mul_(2)
    out.backward()
    assert x.grad.reshape(-1).tolist() == pytest.approx([0.8175745, -0.8175745])


@pytest.mark.parametrize("change", ["x.data.mul_(0.7)", "x.data = x.data * 0.7"])
def test_renorm_reads_its_operand_as_it_is_by_then(t, change):
    """Rows that are short enough by then have slope 1."""
    x = t.tensor([[3.0, 4.0], [1.0, 2.0]], requires_grad=True)
    out = t.renorm(x, 2, 0, 2.0)
    exec(change, {"x": x})
    (g,) = t.autograd.grad(out.sum(), x)
    assert g.reshape(-1).tolist() == pytest.approx([0.0914286, -0.0685714, 1.0, 1.0], abs=1e-6)


def test_truth_values_of_others_may_change(t):
    """NumPy has one False: a change of a 0-d tensor of it concerns no other tensor that holds it."""
    x = t.tensor(3.0, requires_grad=True)
    other, third = t.tensor([True, False]).min(), x.detach() > 5
    y = t.where(x > x, x, 2 * x)
    other.copy_(t.tensor(1.0))
    third.logical_not_()
    y.backward()
    assert (x.grad.item(), other.item(), third.item()) == (2.0, True, True)


@pytest.mark.parametrize("use", ["t.where(m, x, 2 * x)", "x * m", "x.masked_fill(m, 0)", "masked(t).apply(x, m)"])
def test_truth_values_of_their_own_may_not(t, use):
    """A 0-d condition that was saved is noticed where it changes, as any other."""
    x = t.tensor(3.0, requires_grad=True)
    m = x > 0
    y = eval(use, {"t": t, "x": x, "m": m, "masked": _masked})
    m.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def _masked(t):
    class Masked(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, m):
            ctx.save_for_backward(m)
            return x * m

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    return Masked
