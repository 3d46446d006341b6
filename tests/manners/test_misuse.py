"""Calls with arguments that are missing, too many, unknown or of a wrong kind: the error and its first line."""

from __future__ import annotations

import pytest

CALLS = {
    "t.sin()": 'sin() missing 1 required positional arguments: "input"',
    "t.sin(x, x)": "sin() takes 1 positional argument but 2 were given",
    "t.sin(x, x=x)": "sin() got an unexpected keyword argument 'x'",
    "t.sin(x, foo=1)": "sin() got an unexpected keyword argument 'foo'",
    "t.sin('a')": "sin(): argument 'input' (position 1) must be Tensor, not str",
    "t.sin(None)": "sin(): argument 'input' (position 1) must be Tensor, not NoneType",
    "t.gather(x)": 'gather() missing 2 required positional argument: "dim", "index"',
    "t.gather(x, 'a', x)": "gather(): argument 'dim' (position 2) must be int, not str",
    "t.softmax(x)": 'softmax() missing 1 required positional arguments: "dim"',
    "t.softmax(x, 0, 1, 2, 3)": "softmax() takes from 2 to 3 positional arguments but 5 were given",
    "t.softmax(x, 'a')": "softmax(): argument 'dim' (position 2) must be int, not str",
    "t.matmul(x, 'a')": "matmul(): argument 'other' (position 2) must be Tensor, not str",
    "t.mul('a', x)": "mul(): argument 'input' (position 1) must be Tensor, not str",
    "t.mul(x, 'a')": "mul(): argument 'other' (position 2) must be Tensor, not str",
    "t.cumsum(x, 'a')": "cumsum(): argument 'dim' (position 2) must be int, not str",
    "t.topk(x, 'a')": "topk(): argument 'k' (position 2) must be int, not str",
    "t.cat()": 'cat() missing 1 required positional arguments: "tensors"',
    "t.logsumexp(x)": 'logsumexp() missing 1 required positional arguments: "dim"',
    "t.linalg.solve(x)": 'linalg_solve() missing 1 required positional arguments: "B"',
    "t.linalg.solve('a', x)": "linalg_solve(): argument 'A' (position 1) must be Tensor, not str",
    "t.fft.fft()": 'fft_fft() missing 1 required positional arguments: "input"',
    "t.special.i0('a')": "special_i0(): argument 'input' (position 1) must be Tensor, not str",
    "F.gelu()": 'gelu() missing 1 required positional arguments: "input"',
    "F.gelu('a')": "gelu(): argument 'input' (position 1) must be Tensor, not str",
    "F.linear(x)": 'linear() missing 1 required positional arguments: "weight"',
    "F.linear(x, 'a')": "linear(): argument 'weight' (position 2) must be Tensor, not str",
    "F.mse_loss(x)": "mse_loss() missing 1 required positional argument: 'target'",
    "F.kl_div()": "kl_div() missing 2 required positional arguments: 'input' and 'target'",
    "t.argmax(x, x)": "argmax(): argument 'dim' (position 2) must be int, not Tensor",
    "t.amax(x, 'a')": "amax(): argument 'dim' (position 2) must be tuple of ints, not str",
    "t.amax(x, (0, 'a'))": "amax(): argument 'dim' failed to unpack the object at pos 2 with error "
    '"type must be tuple of ints,but got str"',
    "t.amax(x, ('a', 0))": "amax(): argument 'dim' (position 2) must be tuple of ints, but found element of type "
    "str at pos 0",
    "x.permute(0, 'a')": "permute(): argument 'dims' failed to unpack the object at pos 2 with error "
    '"type must be tuple of ints,but got str"',
    "t.all(x, 0, 'a')": "all() received an invalid combination of arguments - got (Tensor, int, str), but "
    "expected one of:",
    "t.sum('a', foo=1)": "sum() received an invalid combination of arguments - got (str, foo=int), but "
    "expected one of:",
    "t.stack(x, 0)": "stack(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
    "t.bitwise_and(x)": "bitwise_and() received an invalid combination of arguments - got (Tensor), but "
    "expected one of:",
    "t.abs_(x, x)": "abs_() takes 1 positional argument but 2 were given",
    "t.t(None)": "t(): argument 'input' (position 1) must be Tensor, not NoneType",
    "x.sum(0, keepdim='z')": "sum(): argument 'keepdim' must be bool, not str",
    "x.mean(0, keepdim='z')": "mean(): argument 'keepdim' must be bool, not str",
    "t.logsumexp(x, 0, keepdim='z')": "logsumexp(): argument 'keepdim' must be bool, not str",
    "x.sum('a')": "sum() received an invalid combination of arguments - got (str), but expected one of:",
    "x.sum(foo=1)": "sum() received an invalid combination of arguments - got (foo=int, ), but expected one of:",
    "x.gather(0)": 'gather() missing 1 required positional arguments: "index"',
    "x.argmax((0, 1))": "argmax(): argument 'dim' (position 1) must be int, not tuple",
    "x.reshape('a')": "reshape(): argument 'shape' (position 1) must be tuple of ints, not str",
    "x.mul_('a')": "mul_(): argument 'other' (position 1) must be Tensor, not str",
    "x.abs_(3)": "TensorBase.abs_() takes no arguments (1 given)",
    "x.det(dim=1)": "TensorBase.det() takes no keyword arguments",
    "x.double(1)": "double() takes 0 positional arguments but 1 was given",
    "x.t().t_(1)": "TensorBase.t_() takes no arguments (1 given)",
}


def names(t):
    return {"t": t, "F": t.nn.functional, "x": t.eye(2)}


@pytest.mark.parametrize("call", CALLS)
def test_first_lines(t, call):
    """The error is a TypeError, and says which argument of which function it is about."""
    with pytest.raises(TypeError) as raised:
        eval(call, names(t))
    assert str(raised.value).split("\n")[0] == CALLS[call]


@pytest.mark.parametrize("name", ["sin", "abs", "exp", "isnan", "erf"])
@pytest.mark.parametrize("word", ["input", "x", "a"])
def test_other_names_of_the_argument(t, name, word):
    """What is called ``input`` goes by NumPy's names, too."""
    x = t.tensor([0.5, -1.0])
    assert getattr(t, name)(**{word: x}).tolist() == getattr(t, name)(x).tolist()


@pytest.mark.parametrize("word", ["self", "tensor", "other", "out_"])
def test_names_it_does_not_go_by(t, word):
    """Others are refused."""
    with pytest.raises(TypeError, match="unexpected keyword argument|missing 1 required"):
        t.sin(**{word: t.ones(2)})


def test_ways_to_call(t):
    """Where a function can be called in several ways, the error lists them."""
    with pytest.raises(TypeError) as raised:
        t.ones(2).clamp("a")
    assert str(raised.value).split("\n")[1:3] == [
        " * (Tensor min = None, Tensor max = None)",
        " * (Number min = None, Number max = None)",
    ]


def test_what_stands_for_tensors():
    """Lists and arrays are taken for tensors, so errors about their shapes are no errors about their kind."""
    import symgrad as sg

    with pytest.raises(RuntimeError) as raised:
        sg.matmul([1.0, 2.0], sg.ones(3))
    assert "must be Tensor" not in str(raised.value)
    assert sg.abs([-1.0]).tolist() == [1.0]


@pytest.mark.parametrize("change", ["x += None", "x -= 'a'", "x **= 'a'", "x //= None", "x @= None"])
def test_operators_in_place(t, change):
    """What is no operand gets Python's own error."""
    with pytest.raises(TypeError, match="unsupported operand type"):
        exec(change, {"x": t.ones(2, 2)})


OLD = {
    "t.add(x, 2, y)": "t.add(x, y, alpha=2)",
    "x.sub(2, y)": "x.sub(y, alpha=2)",
    "(x * 1).add_(2, y)": "x.add(y, alpha=2)",
    "t.addmm(2, x, 3, y, y)": "t.addmm(x, y, y, beta=2, alpha=3)",
    "t.addmm(2, x, y, y)": "t.addmm(x, y, y, beta=2)",
    "x.addmm(2, 3, y, y)": "x.addmm(y, y, beta=2, alpha=3)",
    "t.addcmul(x, 0.5, y, y)": "t.addcmul(x, y, y, value=0.5)",
    "(x * 1).addcdiv_(0.5, y, y)": "x.addcdiv(y, y, value=0.5)",
    "x.addr(2, 3, y[0], y[1])": "x.addr(y[0], y[1], beta=2, alpha=3)",
}


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.parametrize("call", OLD)
def test_calls_with_factors_in_front(t, call):
    """Factors once stood among the operands; such calls are taken as they are written now."""
    found = []
    for text in (call, OLD[call]):
        x, y = t.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True), t.tensor([[2.0, 1.0], [0.5, 4.0]])
        out = eval(text, {"t": t, "x": x, "y": y})
        (g,) = t.autograd.grad(out.sum(), x)
        found.append((out.tolist(), g.tolist()))
    assert found[0] == found[1]


def test_the_old_call_is_told_of():
    import symgrad as sg
    from symgrad import notices

    notices.set_warn_always(True)
    try:
        with pytest.warns(
            UserWarning, match=r"This overload of add is deprecated:\n\tadd\(Number alpha, Tensor other\)"
        ):
            sg.ones(2).add(2, sg.ones(2))
    finally:
        notices.set_warn_always(False)


def test_the_product_of_vectors_of_two_lengths():
    import symgrad as sg

    with pytest.raises(RuntimeError, match=r"inconsistent tensor size, expected tensor \[2\] and src \[3\] to have"):
        sg.ones(2) @ sg.ones(3)


NUMBERS = {
    "t.roll(x, t.tensor(1))": "t.roll(x, 1)",
    "x.roll(t.tensor(1), t.tensor(0))": "x.roll(1, 0)",
    "t.roll(x, shifts=t.tensor(1), dims=1)": "t.roll(x, 1, 1)",
    "t.norm(x, t.tensor(1))": "t.norm(x, 1)",
    "x.norm(t.tensor(1.5), 0)": "x.norm(1.5, 0)",
    "t.linalg.vector_norm(x, t.tensor(3))": "t.linalg.vector_norm(x, 3)",
    "t.tensordot(x, x, t.tensor(1))": "t.tensordot(x, x, 1)",
    "x * t.histc(x.detach(), t.tensor(2), max=t.tensor(4))": "x * t.histc(x.detach(), 2, 0, 4)",
    "x * t.linalg.matrix_rank(x, t.tensor(0.5))": "x * t.linalg.matrix_rank(x, tol=0.5)",
    "x * t.linalg.matrix_rank(x, 5.0, True)": "x * t.linalg.matrix_rank(x, atol=5.0, hermitian=True)",
}


@pytest.mark.parametrize("call", NUMBERS)
def test_tensors_for_numbers(t, call):
    """A tensor without axes stands for the number it holds where a number is a setting, as in torch."""
    found = []
    for text in (call, NUMBERS[call]):
        x = t.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        out = eval(text, {"t": t, "x": x})
        (g,) = t.autograd.grad(out.sum(), x)
        found.append((out.tolist(), g.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "call", ["t.roll(x, t.tensor(1.0))", "t.linalg.vector_norm(x, t.tensor(2.0, requires_grad=True))"]
)
def test_tensors_that_are_no_such_number(t, call):
    with pytest.raises(TypeError, match="not Tensor"):
        eval(call, {"t": t, "x": t.ones(2)})


def test_flags_and_axes_have_their_kinds(t):
    x = t.ones(2, 2)
    refused = {
        "max": lambda: t.max(x, 0, keepdim="yes"),
        "median": lambda: t.median(x, 0, "yes"),
        "argmax": lambda: x.argmax(0, "yes"),
        "kthvalue": lambda: x.kthvalue(1, 0, None),
        "topk": lambda: x.topk(1, largest="yes"),
        "svd": lambda: t.svd(x, "yes"),
        "cholesky_solve": lambda: t.cholesky_solve(x, x, 0.5),
        "cumsum": lambda: x.cumsum(1.5),
        "amax": lambda: x.amax(dim=1.5),
        "transpose": lambda: x.transpose(0, 1.0),
    }
    for name, call in refused.items():
        with pytest.raises(TypeError, match=rf"^{name}\(\)"):
            call()
    assert x.sum(0, keepdim=True).shape == (1, 2)


@pytest.mark.filterwarnings("ignore:This overload of")
def test_numbers_in_the_places_of_old_calls(t):
    x = t.ones(2)
    assert t.add(x, 3, 2).tolist() == [7, 7]  # x + 3 * 2
    assert t.sub(x, 1, 2).tolist() == [-1, -1]
