"""Changes in place on both sides: what is written before they are refused, whose memory it is, what is stale."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.functions import doubling

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]


def ran(t, program, **names):
    """The names that a program leaves, and the builtin class and first words of its error, if any."""
    env = {"t": t, "D": doubling(t), **names}
    try:
        exec(program, env)  # noqa: S102
    except Exception as error:  # noqa: BLE001
        kind = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        env["error"] = (kind, str(error)[:40])
    return env


def alike(program, seen, **made):
    """Whether both sides end in the same error, and agree on ``seen``."""
    found = []
    for t in (symgrad, torch):
        env = ran(t, program, **{name: make(t) for name, make in made.items()})
        found.append((env.get("error"), eval(seen, env)))  # noqa: S307
    here, there = found
    assert here == there


def inference(t):
    with t.inference_mode():
        return t.arange(4.0).reshape(2, 2) * 1


def weight(t):
    return t.full((2, 2), 3.0, requires_grad=True)


@pytest.mark.parametrize(
    "change",
    ["x.mul_(2)", "x.mul_(w)", "x.copy_(w)", "x.zero_()", "x[0] = 5", "x[[0, 1]] = 5", "x.t_()", "x.unsqueeze_(0)",
     "x.view(-1).mul_(2)", "x[0].mul_(2)", "x.resize_(3)", "t.add(w.detach(), 1, out=x)", "D.apply(x)",
     "x.add_(t.ones(2, 3))", "x.expand(3, 2, 2).mul_(2)", "x.detach().mul_(2)", "x.data.mul_(2)",
     "with t.no_grad(): x.mul_(2)"],
)  # fmt: skip
def test_a_change_of_an_inference_tensor_is_refused_after_it_happened(change):
    alike(change, "(x.shape, x.detach().clone().tolist())", x=inference, w=weight)


@pytest.mark.parametrize("a", ["i", "j", "n", "k", "w"])
@pytest.mark.parametrize("b", ["i", "j", "n", "k", "w"])
def test_custom_functions_may_not_save_inference_tensors(a, b):
    program = f"""
class Product(t.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a
with t.inference_mode():
    i, j = t.ones(2), t.ones(2, requires_grad=True)
    k = j * 2
n, w = t.ones(2), t.ones(2, requires_grad=True)
y = None
y = Product.apply({a}, {b})
"""
    alike(program, "y is not None and (y.requires_grad, y.is_inference())")


@pytest.mark.parametrize("change", ["v.zero_()", "D.apply(v)", "x.mul_(2)", "v[0] = 7", "v.t_().mul_(3)"])
def test_a_view_writes_to_its_own_memory_after_data_was_set(change):
    program = f"x = t.ones(2, 3, requires_grad=True) + 0.5\nv = x.permute(1, 0)\nx.data = x.data * 2\n{change}"
    alike(program, "(x.tolist(), v.tolist())")


@pytest.mark.parametrize("write", ["v[:] = -1", "v[:2] = 3", "v[0:2] = w", "v[...] = 2", "v.fill_(2)", "v[0] = 1"])
def test_no_gradient_depends_on_what_was_wholly_overwritten(write):
    program = f"""
x, w = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
v = x.cumsum(0)
{write}
g = t.autograd.grad((v ** 4).mean(), [x, w], create_graph=True, allow_unused=True)
"""
    alike(program, "[None if a is None else (a.tolist(), a.requires_grad, a.is_leaf) for a in g]")


@pytest.mark.parametrize("reduced", ["x.amax(1)", "x.amin(0, keepdim=True)", "x.max()", "x.max(1)[0]", "x.median()"])
def test_extremes_that_were_overwritten_past_autograd(reduced):
    """Where nothing ties with the result any more, the rows of amax have nan and a whole array has 0."""
    program = f"""
x = t.tensor([[1.0, 0.5, 1.0], [2.0, 3.0, 0.5]], requires_grad=True)
v = {reduced}
v.data.mul_(3)
v.sum().backward()
"""
    alike(program, "repr(x.grad.tolist())")


@pytest.mark.parametrize(
    "program",
    ["y = x ** n; y.mul_(2)", "y = x ** 2; y.mul_(2)", "y = 2 ** x; y.mul_(2)", "y = x.float() ** n; D.apply(y)",
     "y = n ** x; y.mul_(2)", "z = x * 1; y = z ** 2; z.mul_(2)",
     "s = x[:2] * 1; y = (x * 1).index_add(0, t.tensor([0, 1]), s); s.mul_(2)",
     "s = n[:2] * 1; y = (x * 1).index_add(0, t.tensor([0, 1]), s); s.mul_(2)",
     "y = x * 1; y.index_add_(0, t.tensor([0]), y[:1])",
     "y = x * 1; v = y[:2]; v.index_add_(0, t.tensor([0]), v[:1])"],
)  # fmt: skip
def test_what_torch_keeps_of_powers_and_added_rows_may_not_change(program):
    start = "x = t.tensor([1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True); n = t.ones(3, dtype=t.float64) * 2\n"
    alike(f"{start}{program}\ny.sum().backward()", "None if x.grad is None else x.grad.tolist()")


@pytest.mark.parametrize("cut", ["x.view(-1)", "x[:2]", "x.unbind(0)[0]"])
@pytest.mark.parametrize(
    "then",
    ["x.requires_grad_(); x.requires_grad_(False); v.sin_()", "v.mul_(2); x.requires_grad_()", "x.requires_grad_()",
     "x.mul_(2); x.requires_grad_()"],
)  # fmt: skip
def test_views_of_a_tensor_that_becomes_a_leaf(cut, then):
    program = f"x = t.arange(3.0)\nv = {cut}\n{then}\nfacts = v.is_leaf, type(v.grad_fn).__name__\n"
    program += "g = t.autograd.grad((v * 2).sum(), [x], allow_unused=True)[0]\ng = None if g is None else g.tolist()"
    alike(program, "(v.requires_grad, globals().get('facts'), globals().get('g'))")


@pytest.mark.parametrize("change", ["v.sin_()", "v.zero_()", "v -= 1"])
def test_a_recorded_view_of_what_is_no_leaf_any_more_may_not_change(change):
    alike(f"x = t.ones(3, requires_grad=True); v = x.view(-1); x.requires_grad_(False)\n{change}", "v.tolist()")


@pytest.mark.parametrize(
    "change",
    ["v = x.conj(); x.mul_(2)", "v = x.conj(); v.mul_(2j)", "v = x.conj()[0]; v.zero_()", "v = x[0].conj(); x.zero_()",
     "v = x.conj().conj(); v.add_(1j)", "v = x.mH; v[0, 1] = 5j", "v = x.adjoint(); v[0, 1] = 5j",
     "v = x.conj(); x.detach().mul_(2)",
     "v = x.conj().real; x.mul_(1j)", "y = x.conj(); v = y * y; x.mul_(2)", "v = x * x; x.conj().mul_(2)",
     "v = x.conj(); x.mul_(v)", "v = x.conj(); v.mul_(x)", "v = x[0, 0].conj(); v.mul_(2j)",
     "with t.no_grad(): v = x.conj()\nx.mul_(2)"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["plain", "leaf", "node"])
def test_a_conjugate_is_a_view(change, kind):
    program = f"""
x0 = t.tensor([[1 + 2j, 2 - 1j], [0.5 + 1j, -1 - 1j]], dtype=t.complex128, requires_grad={kind != "plain"})
x = x0 * 1 if {kind == "node"} else x0
g = v = None
{change}
total = v.abs().sum() + (x * x).abs().sum()
g = t.autograd.grad(total, [x0])[0].tolist() if total.requires_grad else None
g = None if g is None else [round(abs(number), 9) for row in g for number in row]
"""
    alike(program, "(v is not None and (v.detach().clone().tolist(), v._version), x.detach().clone().tolist(), g)")


@pytest.mark.parametrize("number", ["1 + 2j", "1 + 0j", "[2.5 + 0j]", "True", "2.5"])
@pytest.mark.parametrize("kind", ["float", "int", "complex", "bool"])
def test_numbers_of_complex_tensors(number, kind):
    alike(f"r = None\nr = {kind}(t.tensor({number}))", "r")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
@pytest.mark.parametrize(
    "made", ["t.tensor(a)", "t.from_numpy(a)", "t.tensor(a).detach()", "t.ones(a.shape)", "t.tensor(a) * 2"]
)
def test_strides_of_nothing_are_those_of_the_array_it_came_from(made, shape):
    alike("", f"({made}).stride()", a=lambda _: np.ones(shape))


@pytest.mark.parametrize("made", ["x.t().flip(0)", "x.t().angle()", "t.nn.functional.hardtanh(x.t())", "x.flip(1)"])
def test_results_that_lie_in_memory_as_their_operand(made):
    alike(f"v = {made}\ny = None\ny = v.view(-1)", "v.stride()", x=lambda t: t.full((2, 3), 1.5))


def test_views_of_what_a_detached_tensor_was_detached_from():
    program = """
x = t.tensor([0.5, 1.0], requires_grad=True)
v = x.split(1)[0]
w = x.detach().requires_grad_()
with t.no_grad():
    w.detach().mul_(0.5)
v * 2
"""
    alike(program, "x.tolist()")


@pytest.mark.parametrize("clone", ["x.clone()", "t.clone(x)", "x.to(t.float64)"])
def test_copies_of_inference_tensors_that_claim_to_require_grad(clone):
    program = f"with t.inference_mode(): x = t.tensor(2.0, requires_grad=True)\ny = {clone}"
    alike(program, "(y.requires_grad, y.is_leaf)")


@pytest.mark.parametrize("shape", ["()", "(2,)"])
@pytest.mark.parametrize("made", ["x.clone()", "x + 0", "x.pow(1)", "x * 1", "x.to(t.float64)"])
def test_gradients_of_inference_tensors_that_claim_to_require_grad(made, shape):
    program = f"""
with t.inference_mode(): x = t.full({shape}, 2.0, requires_grad=True)
y = {made}
(g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
found = [g, *t.autograd.grad((g * g).sum(), x, create_graph=True), *t.autograd.grad((g * g).sum(), x)]
"""
    alike(program, "[(type(f).__name__, f) for f, _ in y.grad_fn.next_functions][0][0]")
    alike(program, "[(h._version, None if h.grad_fn is None else h.grad_fn.name(), h.tolist()) for h in found]")


def test_what_is_taken_along_an_axis_may_not_change():
    take = "y = t.take_along_dim(x, t.zeros(2, 2, dtype=t.int64), 1)"
    program = f"{take}\nwith t.no_grad(): x.mul_(2)\ny.sum().backward()"
    alike(program, "x.grad is None", x=weight)


@pytest.mark.parametrize("cut", ["x[:2, 1:, 0]", "x[2:]", "x[:0].view(-1)", "x[:, 2:].permute(2, 0, 1)", "x[:0].exp()"])
def test_strides_of_empty_views(cut):
    alike("", f"({cut}).stride()", x=lambda t: t.ones(2, 1, 3))


@pytest.mark.parametrize("ends", ["-1, 1, 4", "-1, 1, 7", "0.3, -2.2, 10", "2.5, 0.7, 33", "0, 1, 1"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64"])
def test_evenly_spaced_numbers_to_the_last_digit(ends, dtype):
    alike("", f"t.linspace({ends}, dtype=t.{dtype}).tolist()")


def test_products_over_named_axes_do_not_save_the_operand_itself():
    program = "v = x * 2; y = t.einsum('ij,kj->ik', v, v); v.detach_(); y.sum().backward()"
    alike(program, "x.grad.tolist()", x=weight)


def test_views_of_what_was_computed_unrecorded_follow_it_to_be_a_leaf():
    start = "x = t.ones(2, requires_grad=True); b = (x > 0).sqrt(); v = b.expand(3, 2); b.requires_grad_()"
    alike(f"{start}\nv.retain_grad()\n(v * 2).sum().backward()", "(v.requires_grad, v.is_leaf, b.grad is None)")


def test_running_extremes_of_a_complex_number_have_no_gradient():
    alike("t.tensor(1j, requires_grad=True).cummax(dim=-1)", "None")
    alike("t.tensor(1j).cummin(dim=-1)", "None")


def test_strides_of_small_products():
    alike("v = t.ones(1, 3) @ t.ones(3, 1)", "v.stride()")


@pytest.mark.parametrize(
    "f",
    [
        "t.special.ndtr(v)",
        "t.nan_to_num(v)",
        "v.prod()",
        "v.nansum()",
        "v.gather(0, i)",
        "v.cummax(dim=0)[0]",
        "v.exp()",
    ],
)
@pytest.mark.parametrize("change", ["v.detach_()", "v.mul_(2)", "y.detach_()", "v[0].mul_(2)"])
def test_what_functions_keep_of_their_operand(f, change):
    program = f"v = x * 0.5\nz = y = {f}\nz = y * 2\n{change}\nz.sum().backward()"
    alike(
        f"i = t.zeros(2, 2, dtype=t.int64)\n{program}", "None if x.grad is None else x.grad.sum().item() > 0", x=weight
    )


@pytest.mark.parametrize("cut", ["v.chunk(2)[0]", "v.unbind(0)[0]", "v.view(-1)", "v[0]"])
@pytest.mark.parametrize("change", ["v.exp_()", "v[0].mul_(2)", "pass"])
def test_a_stale_view_is_refused_before_a_function_changes_it(cut, change):
    alike(f"v = x * 1\npart = {cut}\n{change}\nD.apply(part)", "(v.tolist(), v._version)", x=weight)


@pytest.mark.parametrize("index", ["v > 0", "[0]", "t.tensor([0])", "t.tensor([True, False])", "0", "slice(0, 1)"])
def test_written_entries_are_kept_for_one_backward(index):
    alike(f"v = x * 1\nv[{index}] = 0.5\ns = v.sum()\ns.backward()\ns.backward()", "x.grad.tolist()", x=weight)


@pytest.mark.parametrize(
    "mask", ["(v > -9)", "(v > -9).all(0)", "(v > 1)[0]", "(v > -9).long()", "(v * 2).long().double()"]
)
@pytest.mark.parametrize("data", ["m.data * 3", "t.full_like(m, 2)", "m.double() * 0.5"])
def test_other_data_of_what_was_saved_in_another_dtype(mask, data):
    """A product with a mask is differentiated with what the mask holds by then."""
    program = f"""
x = t.tensor([[1.0, 0.5, 1.0], [2.0, 3.0, 0.5]], requires_grad=True)
v = x * 2
m = {mask}
y = m * x
m.data = {data}
(y * y).sum().backward()
"""
    alike(program, "x.grad.tolist()")


@pytest.mark.parametrize(
    "change", ["q.detach().mul_(3)", "k.data.mul_(3)", "t.no_grad()(k.mul_)(3)", "v.detach().mul_(3)"]
)
@pytest.mark.parametrize("cut", ["", "[None]"])
@pytest.mark.parametrize("scale", [None, -0.5])
def test_attention_keeps_scaled_copies_of_queries_and_keys(change, cut, scale):
    """Those may change before backward; what the weights are multiplied by may not."""
    program = f"""
q, k, v = (x * c for c in (1, 0.5, -2))
a = t.nn.functional.scaled_dot_product_attention(q{cut}, k{cut}, v{cut}, scale={scale})
{change}
(a * a).sum().backward()
"""
    x = np.array([[1.0, 2.0], [-0.5, 0.25]])
    alike(
        program,
        "None if x.grad is None else x.grad.round(decimals=9).tolist()",
        x=lambda t: t.tensor(x, requires_grad=True),
    )


@pytest.mark.parametrize("change", ["v = v.conj_physical()", "v.conj_physical_()", "v.adjoint().mul_(1j)"])
def test_names_of_conjugates(change):
    program = f"v = x * 1; {change}\n(g,) = t.autograd.grad((v * v).real.sum(), x, create_graph=True)"
    complexes = lambda t: t.tensor([[1 + 2j, 3], [4, 5j]], requires_grad=True)  # noqa: E731
    alike(program, "(v.grad_fn.name(), v._version, v.tolist(), g.grad_fn.name(), g.tolist())", x=complexes)


@pytest.mark.parametrize(
    "change",
    ["v.index_add_(0, t.tensor([0]), v[:1])", "v.add_(v[:1])", "v[1:].copy_(v[:1])",
     "x.index_add_(0, t.tensor([0]), v[:1])", "x.index_add_(0, t.tensor([0]), x[:1])"],
)  # fmt: skip
def test_a_conjugate_is_copied_before_what_it_shows_changes(change):
    alike(f"x = t.tensor([1 + 2j, 3 - 1j])\nv = x.conj()\n{change}", "(x.tolist(), v.tolist())")
