"""``gt_`` and its kin: they are recorded, and no gradient passes what became 0 or 1."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*(torch.jit.script|performance drop)")

NAMES = "gt greater ge greater_equal lt less le less_equal eq ne not_equal".split()
WHOLE = {"greater": "Gt", "greater_equal": "Ge", "less": "Lt", "less_equal": "Le", "not_equal": "Ne"}


CASES = [(name, dtype) for name in NAMES for dtype in ("float32", "float64", "bfloat16")]
CASES += [(name, "complex64") for name in ("eq", "ne", "not_equal")]  # the others have no order


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_gradients_are_zeros(t, name, dtype):
    x = t.tensor([0.5, -1.0, 2.0], dtype=getattr(t, dtype), requires_grad=True)
    y = x * 2
    assert getattr(y, f"{name}_")(1) is y
    assert (y.requires_grad, y._version, y.dtype) == (True, 1, x.dtype)
    assert type(y.grad_fn).__name__ == f"{WHOLE.get(name, name.title())}Backward0"
    assert y.tolist() == getattr(x.detach() * 2, name)(1).to(x.dtype).tolist()
    (y * y).sum().backward(t.tensor(1.0, dtype=x.dtype))
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_both_operands_are_inputs_of_the_node(t, name):
    x, z = t.ones(3, requires_grad=True), t.ones(3, requires_grad=True)
    y, c = x * 2, t.ones(3)
    getattr(y, f"{name}_")(z)
    assert type(y.grad_fn).__name__ == f"{WHOLE.get(name, name.title())}Backward1"
    assert [None if n is None else type(n).__name__ for n, _ in y.grad_fn.next_functions] == [
        "MulBackward0",
        "AccumulateGrad",
    ]
    whole = x * 2
    getattr(whole, f"{name}_")(t.tensor(2))
    assert [None if n is None else type(n).__name__ for n, _ in whole.grad_fn.next_functions] == ["MulBackward0", None]
    getattr(c, f"{name}_")(x)
    assert (c.requires_grad, c.is_leaf) == (True, False)
    (y + c).sum().backward()
    assert x.grad.tolist() == z.grad.tolist() == [0, 0, 0]


def test_a_part_is_compared(t):
    x = t.tensor([0.5, -1.0, 2.0], requires_grad=True)
    y = x * 2
    y[:1].gt_(0)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [0, 6, 6]
    whole = x * 2
    whole.view(-1).le_(t.zeros(3))
    assert type(whole.grad_fn).__name__ == "CopySlices"
    assert t.autograd.grad(whole.sum(), x)[0].tolist() == [0, 0, 0]


def test_without_gradients_nothing_is_recorded(t):
    x = t.tensor([0.5, -1.0], requires_grad=True)
    y, c = x * 2, t.tensor([3.0, -4.0])
    with t.no_grad():
        y.gt_(0)
    assert (y.tolist(), type(y.grad_fn).__name__) == ([1, 0], "MulBackward0")
    c.gt_(0)
    assert (c.tolist(), c.requires_grad) == ([1, 0], False)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.gt_(0)


def test_functions_that_compare_in_place_are_differentiated(t):
    def f(a):
        b = a * 2
        c = b.clone().gt_(0)
        return (b * c).sum()

    x = t.tensor([0.5, -1.0])
    assert t.func.grad(f)(x).tolist() == [2, 0]
    assert t.func.jvp(f, (x,), (t.ones(2),))[1].item() == 2
    assert t.func.vmap(t.func.grad(f))(x[None]).tolist() == [[2, 0]]
