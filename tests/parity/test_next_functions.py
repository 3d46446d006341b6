"""``next_functions`` to the third node, also where torch makes several nodes of what is one here."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch")

CALLS = """
v.zero_() | v.fill_(3.0) | v.fill_(T.tensor(3.0)) | v.copy_(x) | 2 / v | v[1:, None] | v[1:, [0, 0], None] | v[0, 1]
v[None, 0:1] | v[0:1, 1] | v[[0, 1]] | v[None] | T.einsum('ij,kj->ik', v, v) | T.einsum('ij->j', v)
T.einsum('ii->i', v @ v.T) | T.einsum('ij,ij->', v, v) | T.einsum('i,j->ij', v[0], v[0]) | T.outer(v[0], v[1])
T.linalg.cholesky(v @ v.T + 2 * T.eye(2)).flatten() | v.t().reshape(-1) | v.expand(2, 2, 3).reshape(-1)
(v * 1j).real | (v * 1j).imag | v.unsqueeze(0) @ v.t() | T.matmul(v[0], v.t()) | T.special.ndtr(v)
v.repeat_interleave(2, 0) | T.where(v > 0, v, 2.0) | 1 - v | v**2 | T.lerp(v, v, 0.3) | v.masked_fill_(v > 0, 1.0)
"""


def walked(node, depth=3):
    if node is None or not depth:
        return None if node is None else type(node).__name__
    return type(node).__name__, [walked(below, depth - 1) for below, _ in node.next_functions]


@pytest.mark.parametrize("call", [call.strip() for call in CALLS.replace("\n", "|").split("|") if call.strip()])
def test_three_nodes_down(call):
    found = []
    for t in (sg, torch):
        x = t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        found.append(walked(eval(call, {"T": t, "x": x, "v": x * 1}).grad_fn))
    assert found[0] == found[1]


STEPS = """
F.scaled_dot_product_attention(q, k, v) | F.scaled_dot_product_attention(q, k, v, is_causal=True)
F.scaled_dot_product_attention(q, k, v, attn_mask=m) | F.scaled_dot_product_attention(q, k, v, m.detach(), scale=0.3)
F.scaled_dot_product_attention(q[0], k[0], v[0]) | F.scaled_dot_product_attention(q[0], k[0], v[0], m.detach() > 0)
F.scaled_dot_product_attention(q, k.detach(), v.detach()) | F.scaled_dot_product_attention(q.detach(), k.detach(), v)
F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=m)
F.linear(q, w[0]) | F.linear(q, w[0], b[:4]) | F.linear(q[0], w[0]) | F.linear(q[0, 0], w[0])
F.linear(q[0, 0], w[0], b[:4])
F.linear(q[0], w[0, 0]) | F.bilinear(q[0], k[0, :3], w, b) | F.bilinear(q, q * 1, w)
F.bilinear(q[0, 0], k[0, 0], w, b)
T.linalg.multi_dot([q[0], k[0].T]) | T.linalg.multi_dot([q[0], k[0].T, v[0]]) | T.linalg.multi_dot([q[0, 0], k[0].T])
T.linalg.multi_dot([q[0], k[0].T, v[0], k[0].T]) | T.linalg.multi_dot([q[0, 0], k[0].T, v[0, :, 0]])
T.linalg.multi_dot([q[0].T, q[0], q[0].T, q[0], q[0, 0]]) | T.chain_matmul(q[0], k[0].T, v[0])
T.linalg.cond(w[0]) | T.linalg.cond(w, -2) | T.linalg.cond(w[0], 1) | T.linalg.cond(w[0], 'fro') | T.kron(q[0], b)
T.linalg.cond(w[0], -float('inf'))
T.quantile(q, 0.3) | T.quantile(q, 0.3, dim=1) | T.quantile(q, 0.3, dim=-1, keepdim=True) | T.quantile(b, 0.3)
T.quantile(q, b[:2].abs().detach() / 9, dim=1) | T.quantile(q, b[:2].abs() / 9) | T.nanquantile(q, 0.3, dim=0)
T.quantile(q, 0.3, dim=0, interpolation='lower') | T.quantile(q, 0.3, dim=0, interpolation='midpoint')
T.trapezoid(q) | T.trapezoid(q, dx=0.5, dim=0) | T.trapezoid(b, b * 2) | T.cumulative_trapezoid(q)
T.cumulative_trapezoid(b, b * 2) | T.combinations(b) | T.combinations(b, 3) | q.nanmean() | q.nanmean(1)
F.pairwise_distance(q[0], q[1]) | F.rms_norm(q, (4,)) | F.rms_norm(q, (4,), w[0, 0])
F.instance_norm(q) | F.instance_norm(q, weight=b[:3], bias=b[:3]) | F.instance_norm(q, T.zeros(3), T.ones(3), b[:3])
F.cross_entropy(q[0], c) | F.cross_entropy(q[0], c, label_smoothing=0.1) | F.cross_entropy(q[0, 0], c[0])
F.cross_entropy(q[0], c, label_smoothing=0.1, reduction='sum', weight=T.ones(4)) | F.cross_entropy(q, q.softmax(1))
F.cross_entropy(q[0], c, label_smoothing=0.1, reduction='none') | F.cross_entropy(q[0], q[1], reduction='none')
F.cross_entropy(q[0], q[1], label_smoothing=0.1, reduction='sum') | F.cross_entropy(q, T.zeros(2, 4).long())
F.cross_entropy(q, T.zeros(2, 4).long(), label_smoothing=0.1)
T.einsum('ij,kj->ik', q[0], k[0]).mul_(2) | T.einsum('bij,bkj->bik', q, k).exp_()
T.tensordot(w, b, ([0], [0])).mul_(2)
T.einsum('i,i->', b, b).add_(1) | T.inner(q[0], k[0]).mul_(2) | F.linear(q, w[0], b[:4]).relu_()
T.linalg.multi_dot([q[0], k[0].T, v[0]]).mul_(2) | F.bilinear(q[0], k[0, :3], w).mul_(2)
F.linear(b[:4], w[0], b[:4]).neg_()
F.instance_norm(q, weight=b[:3]).mul_(2) | T.linalg.cond(w).mul_(2)
"""


@pytest.mark.filterwarnings("ignore:.*chain_matmul:UserWarning")
@pytest.mark.parametrize("call", [call.strip() for call in STEPS.replace("\n", "|").split("|") if call.strip()])
def test_the_steps_of_functions(call: str) -> None:
    """Every node down to the leaves, of functions that are one node here or several others."""
    found = []
    for t in (sg, torch):
        count = iter(range(9))

        def made(*shape: int, t: Any = t, count: Any = count) -> Any:
            size = t.Size(shape).numel()
            return (t.arange(1.0, size + 1.0) * (next(count) + 1)).sin().reshape(shape).requires_grad_()

        names = {"q": made(2, 3, 4), "k": made(2, 5, 4), "v": made(2, 5, 4), "m": made(3, 5), "w": made(5, 4, 4)}
        names |= {"b": made(5), "c": t.tensor([0, 2, 1]), "T": t, "F": t.nn.functional}
        out = eval(call, names)
        found.append((walked(out.grad_fn, 30), out._is_view()))
    assert found[0] == found[1]


@pytest.mark.parametrize("bounds", ["lo", "max=lo", "lo, hi", "min=lo.detach()", "max=hi.detach()", "0.0, 2.0"])
def test_bounds_that_are_not_given(bounds: str) -> None:
    """The node of clamp has a place for either bound, which hooks and calls of the node see, too; it had no third."""
    found = []
    for t in (sg, torch):
        x, lo, hi = (t.tensor([k, 1.0, 2.0], requires_grad=True) for k in (0.0, 0.5, 1.5))
        node = eval(f"x.clamp({bounds})", {"x": x, "lo": lo, "hi": hi}).grad_fn
        seen: list[Any] = [walked(node), [name for name in dir(node) if name.startswith("_saved")]]
        node.register_hook(lambda into, out, seen=seen: seen.append([g is None or g.tolist() for g in into]))
        answers = node(t.ones(3))
        seen += [g is None or g.tolist() for g in (answers if isinstance(answers, tuple) else (answers,))]
        found.append(seen)
    assert found[0] == found[1]


def test_inner_nodes():
    """One object while it is held; it does not run, and says so."""
    y = sg.tensor([[1.0], [2.0]], requires_grad=True)[0:1, None]
    (inner, number) = y.grad_fn.next_functions[0]
    assert (inner.name(), number) == ("SliceBackward0", 0)
    assert y.grad_fn.next_functions[0][0] is inner
    assert isinstance(inner, sg.autograd.graph.Node)
    with pytest.raises(RuntimeError, match="one node here"):
        inner.register_hook(print)


@pytest.mark.parametrize("case", [("ij,ij->", (1, 1), (1, 1)), ("ij,kj->ik", (2, 1), (3, 1)), ("ij,j->i", (2, 1), (1,)),
                                  ("ij,ij->", (2, 1), (2, 1)), ("bij,bkj->bik", (2, 3, 1), (2, 2, 1))])  # fmt: skip
def test_einsum_over_axes_of_one(case: tuple[str, tuple[int, ...], tuple[int, ...]]) -> None:
    """Where nothing is to be added torch multiplies entry by entry, and views the product without those axes."""
    equation, *shapes = case

    def names(t: Any) -> Any:
        x, y = (t.ones(*shape, requires_grad=True) for shape in shapes)
        out = t.einsum(equation, x, y)
        first = t.autograd.grad((out * out).sum(), (x, y), create_graph=True)
        chain = (out.grad_fn, out.grad_fn.next_functions[0][0], *(g.grad_fn for g in first))
        return [type(node).__name__ for node in chain]

    assert names(sg) == names(torch)


EINSUMS = {
    "ij,jk,kl->il": "23 34 45",
    "hwi,ij,hwj->hw": "342 22 342",
    "ab,asc,bsd->cd": "22 232 232",
    "bi,bj,bk->ijk": "22 23 23",
    "ai,aj,ak,al->ijkl": "22 22 22 22",
    "ia,ja,ka,la,ma->ijklm": "23 23 23 23 23",
    "i,j,k->ijk": "2 3 4",
    "bld,bln,bld->bldn": "256 253 256",
    "ij,ij,k->ik": "23 23 4",
    "ij,jk,k->i": "21 14 4",
    "i,i,i->": "3 3 3",
    "ij,k->ik": "23 4",
    "ij,kj->ik": "23 43",
    "bij,bkj->bik": "523 543",
    "ii,ij->j": "22 23",
    "bqhd,bkhd->bhqk": "2435 2635",
}
"""Equations with the shapes of their operands, a digit for each axis."""


@pytest.mark.parametrize("equation", EINSUMS)
def test_down_to_the_operands_of_an_einsum(equation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One product after the other from left to right, which is torch's order where opt_einsum is not installed."""
    monkeypatch.setattr(torch.backends.opt_einsum, "enabled", False)
    found = []
    for t in (sg, torch):
        operands = [t.ones(*map(int, shape), requires_grad=True) for shape in EINSUMS[equation].split()]
        out = t.einsum(equation, *operands)
        slopes = t.autograd.grad(out.square().sum(), operands, create_graph=True)
        found.append([walked(out.grad_fn, 40), *(type(g.grad_fn).__name__ for g in slopes)])
    assert found[0] == found[1]


def test_einsum_of_many_operands() -> None:
    """The node itself leads to all of them; gradients tell their version as any others do."""
    operands = [sg.ones(2, 2, requires_grad=True) for _ in range(6)]
    out = sg.einsum("ab,bc,cd,de,ef,fg->ag", *operands)
    assert [below.variable is x for (below, _), x in zip(out.grad_fn.next_functions, operands, strict=True)] == [
        True
    ] * 6
    out.sum().backward()
    assert all(x.grad._version in (0, 1) for x in operands)
