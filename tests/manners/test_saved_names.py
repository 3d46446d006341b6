"""``grad_fn._saved_…`` of what a function was given and found out, and ``dir`` of a node, which tools list."""

from __future__ import annotations

import pytest


def calls(t):
    """Nodes by what of theirs is asked for, with the tensors it must be equal to."""
    x = t.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], requires_grad=True)
    y = t.tensor([[2.0, 1.0, -1.0], [3.0, 0.5, 1.5]], requires_grad=True)
    place, mask, vector = t.tensor([[0], [2]]), t.tensor([[True, False, True], [False, False, True]]), y[0].detach()
    rows = t.tensor([1, 0])
    return [
        (x.gather(1, place), {"index": place, "dim": 1}),
        (x.index_select(0, rows), {"index": rows}),
        (x[rows], {"indices": (rows,)}),
        (x[:, rows], {"indices": (None, rows)}),
        (x.masked_fill(mask, 0.0), {"mask": mask}),
        (t.where(mask, x, y), {"condition": mask}),
        (x.max(1)[0], {"indices": t.tensor([2, 1])}),
        (x.sort(1)[0], {"indices": t.tensor([[1, 0, 2], [2, 0, 1]])}),
        (x @ vector, {"vec": vector}),
        (t.addmm(t.ones(2, 2), x, y.T), {"mat1": x, "mat2": y.T, "alpha": 1, "beta": 1}),
        (t.addcmul(x, x, y, value=2), {"tensor1": x, "tensor2": y, "value": 2}),
        (t.lerp(x, y, y.detach()), {"weight": y.detach()}),
        (t.nn.functional.leaky_relu(x, 0.1), {"self": x, "negative_slope": 0.1}),
        (x.prod(), {"self": x, "result": x.prod()}),
        (x[:, 1:], {"dim": 1, "start": 1, "step": 1}),
        (x[1], {"dim": 0, "index": 1}),
        (x.narrow(1, 1, 2), {"dim": 1, "start": 1, "end": 3}),
        (x.split(2, 1)[0], {"split_size": 2, "dim": 1}),
        (x.tril(1), {"diagonal": 1}),
        (x + y, {"alpha": 1}),
        (x * 2, {"other": t.tensor(2)}),
        (2.5 * x, {"other": t.tensor(2.5, dtype=t.float64)}),
        (x / 2, {"other": t.tensor(2)}),
        (x**2, {"self": x, "exponent": 2}),
        (x.masked_select(mask), {"mask": mask}),
    ]


def same(a, b) -> bool:
    if isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a.tolist() == b.tolist() if hasattr(b, "tolist") else a == b


@pytest.mark.parametrize("number", range(25))
def test_what_was_given_is_found_by_its_name(t, number):
    made, wanted = calls(t)[number]
    for name, value in wanted.items():
        assert same(getattr(made.grad_fn, f"_saved_{name}"), value), name
        assert f"_saved_{name}" in dir(made.grad_fn)


def test_names_are_those_of_what_is_there(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    for made, wanted in [(x.exp(), ["result"]), (x.sin(), ["self"]), (x * x, ["other", "self"]), (x.neg(), [])]:
        assert [name for name in dir(made.grad_fn) if name.startswith("_saved_")] == [f"_saved_{w}" for w in wanted]


def test_names_stay_after_the_values_are_freed(t):
    x = t.tensor([[1.0, 2.0]], requires_grad=True)
    out = x.gather(1, t.tensor([[0]])).exp()
    out.sum().backward()
    for node, name in ((out.grad_fn, "_saved_result"), (out.grad_fn.next_functions[0][0], "_saved_index")):
        assert name in dir(node)
        with pytest.raises(RuntimeError, match="second time"):
            getattr(node, name)
