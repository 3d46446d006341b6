"""Extending torch: classes derived from tensors keep their class, and ``__torch_function__`` says what functions do."""

import copy
import importlib
import pickle
import sys

import pytest

import symgrad


@pytest.fixture
def overrides(t):
    return importlib.import_module(f"{t.__name__}.overrides")


def logging_class(t, log):
    class LoggingTensor(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    return LoggingTensor


CALLS = (
    "x + y", "y + x", "x - 1", "1 - x", "2 * x", "x / 2", "2 / x", "x ** 2", "2 ** x", "x @ y", "y.mul(x)", "x[0]",
    "x.sum()", "t.sum(x)", "-x", "abs(x)", "x > 1", "x == y", "x // 2", "x % 2", "t.stack([x, y])", "t.cat((y, x))",
    "t.where(y > 0, x, y)", "x.split(1)", "t.max(x, 0)", "t.nn.functional.relu(x)", "t.nn.functional.softmax(x, 0)",
    "x.detach()", "x.clone()", "x.data", "x.double()", "x.view(2, 1)", "x.expand(2, 2)", "x.new_zeros(2)", "list(x)",
    "t.zeros_like(x)", "t.linalg.norm(x)", "t.einsum('i,i->', x, x)", "t.nn.functional.mse_loss(x, y)", "x.long()",
    "t.broadcast_tensors(x, y)", "x.detach().add_(1)", "t.nn.Parameter(t.ones(2)) * x", "x.numpy()", "x.tolist()",
    "x.is_floating_point()", "t.allclose(x, y)", "copy.copy(x)", "pickle.loads(pickle.dumps(t.ones(2)))",
)  # fmt: skip


def kinds(value):
    several = isinstance(value, (tuple, list)) and value and hasattr(value[0], "shape")
    return [type(v).__name__ for v in value] if several else type(value).__name__


@pytest.mark.parametrize("call", CALLS)
def test_results_are_of_the_class(t, call):
    class Length(t.Tensor):
        pass

    x, y = t.tensor([1.0, 2.0]).as_subclass(Length), t.tensor([1.0, 2.0])
    plain = {"numpy": "ndarray", "tolist": "list", "is_float": "bool", "allclose": "bool", "pickle": "Tensor"}
    made = kinds(eval(call, {"t": t, "x": x, "y": y, "copy": copy, "pickle": pickle}))  # noqa: S307
    expected = next((kind for word, kind in plain.items() if word in call), "Length")
    assert made == expected or (isinstance(made, list) and set(made) == {expected})


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("x + y", ["add"]), ("y + x", ["add"]), ("1 - x", ["__rsub__"]), ("y - x", ["sub"]), ("x ** 2", ["pow"]),
        ("2 / x", ["__rdiv__"]), ("x @ y", ["matmul"]), ("x % 2", ["remainder"]), ("y.mul(x)", ["mul"]),
        ("x[0]", ["__getitem__"]), ("x.sum()", ["sum"]), ("t.sum(x)", ["sum"]), ("x.norm()", ["norm"]),
        ("x.shape", ["__get__"]), ("x.view(2, 1)", ["view"]), ("x.numel()", ["numel"]), ("x == y", ["__eq__"]),
        ("t.stack([x, y]).mean(dim=0)", ["stack", "mean"]), ("t.nn.functional.relu(x)", ["relu"]),
        ("(x * 2).sum()", ["mul", "sum"]), ("t.zeros_like(x)", ["zeros_like"]), ("len(x)", ["__len__"]),
        ("t.nn.Parameter(x)", ["detach", "requires_grad_"]), ("t.tensor(x)", []), ("x.add_(1)", ["add_"]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_functions_are_told_by_their_names(t, call, names):
    log = []
    x = t.tensor([1.0, 2.0]).as_subclass(logging_class(t, log))
    eval(call, {"t": t, "x": x, "y": t.tensor([1.0, 2.0])})  # noqa: S307
    assert log == names


def test_gradients_of_such_tensors(t):
    log = []
    x = logging_class(t, log)([1.0, 2.0]).requires_grad_()
    y = (x * x).sum()
    y.backward()
    assert log == ["requires_grad_", "mul", "sum", "backward"]
    assert type(x.grad) is t.Tensor
    assert x.grad.tolist() == [2.0, 4.0]
    assert y.grad_fn.name() == "AliasBackward0"
    (g,) = t.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert type(g) is type(x)
    (h,) = t.autograd.grad(g.sum(), x)
    assert h.tolist() == [6.0, 12.0]


def test_the_most_derived_class_is_asked_first(t):
    class Base(t.Tensor):
        pass

    class Derived(Base):
        pass

    class Other(t.Tensor):
        pass

    a, b, c = Base([1.0]), Derived([2.0]), Other([3.0])
    assert type(a + b) is type(b + a) is type(t.add(a, b)) is Derived
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Base' and 'Other'"):
        a + c
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers"):
        t.add(a, c)


def test_functions_that_a_class_implements(t):
    """The tables of functions in torch's notes on extending, of a class that is no tensor."""
    handled = {}

    class Scalar:
        def __init__(self, n, value):
            self.n, self.value = n, value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in handled or not all(issubclass(kind, (t.Tensor, Scalar)) for kind in types):
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    def whole(d):
        return d.value * t.eye(d.n) if isinstance(d, Scalar) else d

    handled[t.mean] = lambda d: d.value / d.n
    handled[t.add] = lambda a, b: t.add(whole(a), whole(b))
    handled[t.Tensor.add] = handled[t.add]
    handled[t.stack] = lambda parts: [p.value for p in parts]
    d = Scalar(2, 4)
    assert t.mean(d) == 2.0
    assert t.stack([d, d]) == [4, 4]
    assert t.add(d, t.ones(2, 2)).tolist() == t.add(t.ones(2, 2), d).tolist() == [[5.0, 1.0], [1.0, 5.0]]
    assert (t.ones(2, 2) + d).tolist() == [[5.0, 1.0], [1.0, 5.0]]
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.mul'"):
        t.mul(d, 3)
    with pytest.raises(TypeError):
        t.ones(2, 2) * d


def test_operators_and_comparisons_of_objects_that_are_no_tensors(t):
    class Wrapped:
        def __init__(self, held):
            self.held = held

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*(a.held if isinstance(a, Wrapped) else a for a in args), **(kwargs or {}))

    x, u = t.tensor([1.0, 3.0]), Wrapped(t.tensor([2.0, 2.0]))
    assert [(x > u).tolist(), (x <= u).tolist(), (x == u).tolist()] == [[False, True], [True, False], [False, False]]
    assert [(x - u).tolist(), (x / u).tolist(), (x**u).tolist()] == [[-1.0, 1.0], [0.5, 1.5], [1.0, 9.0]]
    assert [x.sub(u).tolist(), t.maximum(x, u).tolist(), t.sub(u, x).tolist()] == [[-1, 1], [2, 3], [1, -1]]


def test_changes_in_place_by_such_tensors(t):
    class Length(t.Tensor):
        pass

    x, y = t.ones(2), Length([1.0, 2.0])
    same = y
    y += 1
    assert y is same
    assert type(y.add_(x)) is Length
    y[0] = 7.0
    assert y.tolist() == [7.0, 4.0]
    x += y
    assert type(x) is Length
    assert x.tolist() == [8.0, 5.0]


def test_changes_of_results_are_recorded(t):
    """What a function makes of such tensors shows a plain one, whose change is its own."""

    class Length(t.Tensor):
        pass

    a = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = (a * 1).as_subclass(Length).clone()
    x.index_copy_(0, t.tensor([0]), x[1:2] * 5)
    x[2] = x[1] * 3
    x.mul_(2)
    y = x.view(3, 1)
    y += 1
    assert x.tolist() == [21.0, 5.0, 13.0]
    (g,) = t.autograd.grad((x * t.tensor([1.0, 10.0, 100.0])).sum(), a)
    assert g.tolist() == [0.0, 10.0 + 20.0 + 600.0, 0.0]


def test_errors_are_those_of_the_function(t):
    class Strict(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in (t.exp, t.Tensor.exp):
                raise ValueError("no exponentials of lengths")
            return super().__torch_function__(func, types, args, kwargs)

    x = Strict([1.0, 2.0])
    for call in (lambda: t.exp(x), x.exp):
        with pytest.raises(ValueError, match=r"^no exponentials of lengths$"):
            call()
    with pytest.raises(RuntimeError, match="^stack expects each tensor to be equal size"):
        t.stack([x, t.ones(3)])
    with pytest.raises(IndexError, match="^Dimension out of range"):
        t.sum(x, dim=7)
    with pytest.raises(TypeError, match="unsupported operand type"):
        x + "a"
    with pytest.raises(TypeError):
        x.add("a")


def test_a_class_that_switches_it_off(t):
    class Plain(t.Tensor):
        __torch_function__ = t._C._disabled_torch_function_impl

    class Quiet(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            with t._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))

    for x in (Plain([1.0, 2.0]), Quiet([1.0, 2.0])):
        assert type(x * 2) is type(t.sin(x)) is type(x.sum()) is t.Tensor


def test_the_default_is_called_by_name(t):
    class Length(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            made = t.Tensor.__torch_function__(func, (t.Tensor,), args, kwargs)
            return made.as_subclass(cls) if func is t.Tensor.unsqueeze else made

    x = Length([1.0, 2.0])
    assert [type(x + 1), type(x.unsqueeze(0))] == [t.Tensor, Length]


def test_methods_are_the_same_before_and_after_a_class_is_made(t):
    """Tables of what classes implement are often filled before."""
    names = ("add", "mul", "matmul", "exp", "sum", "unsqueeze", "atan2", "maximum", "view", "to", "size", "clone")
    before = [getattr(t.Tensor, name) for name in names]

    class Length(t.Tensor):
        pass

    assert Length([1.0]).sum().item() == 1.0
    assert [getattr(t.Tensor, name) is method for name, method in zip(names, before, strict=True)] == [True] * 12


def test_classes_that_no_statement_makes(t):
    made = type("Length", (t.Tensor,), {})
    assert type(made([1.0]) + 1) is made


def test_methods_of_the_class(t):
    class Own(t.Tensor):
        def __mul__(self, other):
            return "mine"

        def mean(self, *args, **kwargs):
            return super().mean(*args, **kwargs) + 1

    x = Own([1.0, 2.0])
    assert x * 2 == "mine"
    assert x.mean().item() == 2.5
    assert type(x.mean()) is Own
    assert repr(x + 1) == "Own([2., 3.])"


def test_parameters_of_the_class(t):
    class Length(t.Tensor):
        pass

    p = t.nn.Parameter(Length([1.0, 2.0]))
    assert type(p) is Length
    assert isinstance(p, t.nn.Parameter)
    assert p.requires_grad
    (p * 2).sum().backward()
    assert type(p.grad) is t.Tensor
    assert p.grad.tolist() == [2.0, 2.0]


def test_parameters_of_the_class_in_one_vector(t):
    class Length(t.Tensor):
        pass

    p = t.nn.Parameter(Length([[1.0], [2.0]]))
    whole = t.nn.utils.parameters_to_vector([p])
    assert [type(whole), whole.tolist()] == [Length, [1.0, 2.0]]


def test_units_are_carried_along(t):
    class Quantity(t.Tensor):
        @staticmethod
        def __new__(cls, data, unit):
            made = t.Tensor._make_subclass(cls, t.as_tensor(data))
            made.unit = unit
            return made

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            units = [a.unit for a in args if isinstance(a, cls)]
            made = super().__torch_function__(func, types, args, kwargs)
            if isinstance(made, cls):
                made.unit = "*".join(units)
            return made

    a, b = Quantity([1.0, 2.0], "m"), Quantity([3.0, 4.0], "s")
    assert (a * b).unit == t.mul(a, b).unit == "m*s"
    assert (a * b).sum().unit == "m*s"
    assert (2 * a).unit == "m"


def test_functions_of_ones_own(t, overrides):
    class Loud(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, kwargs

    def public(x, k=1):
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(public, (x,), x, k=k)
        return x + k

    @overrides.wrap_torch_function(lambda x: (x,))
    def twice(x):
        return x * 2

    loud = Loud([1.0])
    assert public(loud, k=3) == ("public", {"k": 3})
    assert twice(loud)[0] == "twice"
    assert public(t.ones(1)).item() == 2.0
    assert twice(t.ones(1)).item() == 2.0
    assert overrides.is_tensor_like(loud)
    assert not overrides.is_tensor_like(3)
    assert overrides.resolve_name(t.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(t.add) == "torch.add"
    assert overrides.resolve_name(t.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
    assert overrides.is_tensor_method_or_property(t.Tensor.add)
    assert not overrides.is_tensor_method_or_property(t.add)
    assert t.add in overrides.get_overridable_functions()[t]
    for ignored in (t.zeros, t.is_tensor, t.vmap, t.manual_seed):
        assert ignored in overrides.get_ignored_functions()
        assert ignored not in overrides.get_overridable_functions()[t]
    assert t.zeros_like not in overrides.get_ignored_functions()


def test_modes_see_every_call(t, overrides):
    log = []

    class Names(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(overrides.resolve_name(func))
            return func(*args, **(kwargs or {}))

    def run():
        a = t.rand(3)
        return (a * 2).sum() + t.sin(a)

    with Names():
        run()
    run()
    assert log == ["torch.rand", "torch.Tensor.mul", "torch.Tensor.sum", "torch.sin", "torch.Tensor.add"]


def test_modes_see_properties_and_changes(t, overrides):
    """Reading and setting of properties, and operators that change: by the names of the methods that torch calls."""
    log = []

    class Names(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(overrides.resolve_name(func).removeprefix("torch.Tensor."))
            return func(*args, **(kwargs or {}))

    a = t.ones(3, 2, requires_grad=True)
    b = t.ones(3)
    with Names():
        _ = a.shape, a.grad, a.T, a.is_sparse, a.is_cuda, a.requires_grad
        a.grad = None
        b += 1
        b /= 2
        b %= 2
        _ = b != 1
        (a * 2).sum().backward()
    _ = a.shape
    read = [f"{name}.__get__" for name in ("shape", "grad", "T", "is_sparse", "is_cuda", "requires_grad")]
    assert log == [*read, "grad.__set__", "add_", "div_", "remainder_", "ne", "mul", "sum", "backward"]


def test_objects_that_are_no_tensors_are_not_stacked(t):
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 0, but got object"):
        t.stack([object(), object()])


def test_where_the_library_stands_in_for_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", symgrad)

    class Length(symgrad.Tensor):
        pass

    assert type(Length([1.0]) + 1) is Length


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "mul",
        "multiply",
        "eq",
        "less",
        "maximum",
        "sum",
        "all",
        "add_",
        "multiply_",
        "div_",
        "clamp_",
        "atan2_",
        "copy_",
        "fill_",
    ],
)
def test_methods_tell_objects_that_are_no_tensors_their_names(t, name):
    class Answering:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return function.__name__, function is getattr(t.Tensor, name), len(args)

    assert getattr(t.ones(2, 2), name)(Answering()) == (name, True, 2)
