"""Tensor attributes and conversions: flags, what may be deleted or assigned, texts, numbers, other dtypes."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from tests.leaves import values


def test_requires_grad(t):
    """The flag spreads to results; where it is missing there is no graph, and no hook runs."""
    x = t.tensor([1.0, 2.0])
    w = t.tensor([3.0, 4.0], requires_grad=True)
    outside = x * x + 1
    inside = outside * w
    assert [v.requires_grad for v in (x, outside, w, inside)] == [False, False, True, True]
    inside.sum().backward()
    assert x.grad is None
    assert outside.grad is None
    assert values(w.grad) == [2.0, 5.0]

    ran = []
    plain, wanted = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    side = plain * 2
    side.register_hook(lambda g: ran.append("side"))
    side.detach().mul(wanted).sum().backward()
    assert not ran
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        outside.register_hook(print)


def test_requires_grad_(t):
    """The method sets and clears, gives the tensor back, and refuses to clear what was computed."""
    x = t.zeros(3)
    assert x.requires_grad_() is x
    assert x.requires_grad
    assert x.requires_grad_(False) is x
    assert not x.requires_grad
    y = x.requires_grad_(True) * 2
    assert y.requires_grad_() is y
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)


def test_attribute_deletion(t):
    """``grad`` may be deleted, and nothing else that a tensor is made of; nor may other things be set to None."""
    x = t.ones(3, 2, requires_grad=True)
    (x * 2).sum().backward()
    del x.grad
    assert x.grad is None
    x.grad = t.ones(3, 2)
    x.grad = None
    assert x.grad is None
    for name in ("data", "requires_grad", "grad_fn", "_version", "is_leaf", "ndim", "shape", "dtype"):
        with pytest.raises((RuntimeError, AttributeError)):
            delattr(x, name)
    for name in ("data", "requires_grad"):
        with pytest.raises((RuntimeError, TypeError)):
            setattr(x, name, None)
    for name in ("_version", "is_leaf", "ndim", "shape", "dtype", "grad_fn"):
        with pytest.raises((RuntimeError, AttributeError)):
            setattr(x, name, None)
    assert values(x) == [[1.0, 1.0]] * 3


def test_tensor_grad_warnings(t):
    """Reading ``grad`` of a result warns, unless the result was asked to retain it; leaves never warn."""
    x = t.ones(2, requires_grad=True)
    y = x * 3
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None
        (y * y).sum().backward()
        assert values(y.grad) == [6.0, 6.0]
        assert values(x.grad) == [18.0, 18.0]
        assert t.ones(2).grad is None


def test_numpy_requires_grad(t):
    """``numpy()`` is refused with advice while grad is required, and allowed under ``no_grad``."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    advice = r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."
    with pytest.raises(RuntimeError, match=advice):
        x.numpy()
    with pytest.raises(RuntimeError, match=advice):
        (x * 2).numpy()
    with t.no_grad():
        assert x.numpy().tolist() == [1.0, 2.0]
        assert (x * 2).numpy().tolist() == [2.0, 4.0]
    assert x.detach().numpy().tolist() == [1.0, 2.0]


def test_shape(t):
    """A shape is a tuple: it has a length, items from both ends, and unpacks."""
    x = t.zeros(3, 1, 4)
    assert len(x.shape) == 3
    assert [x.shape[k] for k in (0, 1, -1)] == [3, 1, 4]
    rows, _, columns = x.shape
    assert (rows, columns) == (3, 4)
    assert x.shape == (3, 1, 4) == x.size()
    assert x.shape[1:] == (1, 4)
    assert x.shape.numel() == 12
    assert len(t.tensor(1.0).shape) == 0


def test_pickle(t):
    """A tensor survives every protocol with its values, dtype and flag."""
    for protocol in (2, 3, 4, 5):
        for flag in (True, False):
            x = t.tensor([[1.5, -2.0]], dtype=t.float64, requires_grad=flag)
            again = pickle.loads(pickle.dumps(x, protocol))
            assert values(again) == [[1.5, -2.0]]
            assert again.requires_grad is flag
            assert again.dtype == t.float64
            assert again.is_leaf
            assert again._version == 1


@pytest.mark.filterwarnings("ignore")
def test_dir(t):
    """Whatever ``dir`` lists can be fetched, but for what only other tensors have; a real tensor has no ``imag``."""
    x = t.ones(2, 2, requires_grad=True)
    names = dir(x)
    assert {"shape", "grad", "backward", "sin", "requires_grad_"} <= set(names)
    missing = []
    for name in names:
        try:
            getattr(x, name)
        except (AttributeError, RuntimeError, ValueError, TypeError):
            missing.append(name)
    assert "imag" in missing
    assert len(missing) < 20
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        x.imag


def test_autograd_print_tensor(t):
    """The text of a tensor says whether it requires grad and which node made it; a lost view says Invalid."""
    x = t.ones(1, requires_grad=True)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    assert repr(x.clone()) == "tensor([1.], grad_fn=<CloneBackward0>)"
    whole = x.clone()
    with t.no_grad():
        part = whole[:]
    whole.mul_(5)
    assert repr(part) == "tensor([5.], grad_fn=<Invalid>)"

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x**2

        @staticmethod
        def backward(ctx, g):
            return g

    assert repr(Square.apply(x)) == "tensor([1.], grad_fn=<SquareBackward>)"


def test_volatile_deprecated(t):
    """The old attribute is no more: asking for it warns and says False."""
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not t.autograd.Variable(t.ones(2)).volatile


def test_type_conversions(t):
    """Each conversion gives its dtype; floats keep requiring grad, integers cannot."""
    x = t.tensor([1.5, 2.5])
    for name, dtype in (
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        ("int", "int32"),
        ("long", "int64"),
        ("short", "int16"),
        ("bool", "bool"),
        ("cfloat", "complex64"),
        ("cdouble", "complex128"),
    ):
        made = getattr(x, name)()
        assert str(made.dtype).removeprefix("torch.") == dtype
        assert isinstance(made, t.Tensor)
    w = t.tensor([1.5, 2.5], requires_grad=True)
    assert w.double().requires_grad
    assert w.to(t.float64).requires_grad
    assert w.type(t.float16).requires_grad
    assert not w.long().requires_grad
    assert not w.int().requires_grad
    assert w.float() is w
    assert t.tensor([1, 2]).type_as(w).dtype == t.float32
    (w.double() * w.half()).sum().backward()
    assert w.grad.dtype == t.float32
    assert values(w.grad) == [3.0, 5.0]


def test_pyscalar_conversions(t):
    """One-element tensors of any shape are numbers to Python; what does not fit raises."""
    for shape in ((), (1,), (1, 1)):
        for value in (3, -7, 0):
            x = t.tensor(np.full(shape, value))
            assert (int(x), float(x), bool(x), complex(x)) == (value, float(value), bool(value), complex(value))
        x = t.tensor(np.full(shape, 2.75))
        assert (int(x), float(x), bool(x)) == (2, 2.75, True)
        assert float(t.tensor(np.full(shape, np.inf))) == np.inf
        assert np.isnan(float(t.tensor(np.full(shape, np.nan))))
        assert bool(t.tensor(np.full(shape, np.nan)))
        with pytest.raises(OverflowError):
            int(t.tensor(np.full(shape, np.inf)))
        with pytest.raises(ValueError):  # noqa: PT011  (Python's own words)
            int(t.tensor(np.full(shape, np.nan)))
    assert int(t.tensor(2**62)) == 2**62
    with pytest.raises((RuntimeError, ValueError)):
        float(t.ones(2))
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(t.ones(2))


def test_set_requires_grad_only_for_floats(t):
    """By constructor, method or attribute: integers and truth values cannot require grad."""
    for name in ("int8", "int16", "int32", "int64", "uint8", "bool"):
        x = t.tensor([1, 0], dtype=getattr(t, name))
        x.requires_grad_(False)
        x.requires_grad = False
        with pytest.raises(RuntimeError, match=r"(?i)only Tensors of floating point.* can require gradients"):
            x.requires_grad_()
        with pytest.raises(RuntimeError, match="floating point"):
            x.requires_grad = True
        with pytest.raises(RuntimeError, match=r"(?i)only Tensors of floating point.* can require gradients"):
            t.ones(1, dtype=getattr(t, name), requires_grad=True)
    for name in ("float16", "float32", "float64", "complex64", "complex128"):
        assert t.ones(1, dtype=getattr(t, name)).requires_grad_().requires_grad


def test_grad_assignment(t):
    """A gradient is a tensor of the tensor's own shape and dtype, or None, and not the tensor itself."""
    x = t.ones(2, 3, requires_grad=True)
    for other in (1.0, np.ones((2, 3)), "gradient", [1.0]):
        with pytest.raises(TypeError, match="grad expected to be a Tensor or None"):
            x.grad = other
    with pytest.raises(RuntimeError, match="size"):
        x.grad = t.ones(3, 2)
    with pytest.raises(RuntimeError, match=r"type|dtype"):
        x.grad = t.ones(2, 3, dtype=t.float64)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    good = t.full((2, 3), 4.0)
    x.grad = good
    assert x.grad is good
    (x * 2).sum().backward()
    assert values(x.grad) == [[6.0] * 3] * 2


def test_requires_grad_factory(t):
    """``ones_like`` and ``randn_like`` take the flag and a dtype."""
    like = t.zeros(2, 3)
    for make in (t.ones_like, t.randn_like, t.zeros_like):
        for dtype in (t.float32, t.float64):
            for flag in (True, False):
                made = make(like, dtype=dtype, requires_grad=flag)
                assert made.requires_grad is flag
                assert made.dtype == dtype
                assert made.shape == (2, 3)


def test_attributes_of_the_users_own(t):
    """Anything may be put on a tensor; copies and pickles take it along, results do not."""
    x, weight = t.ones(2, requires_grad=True), t.nn.Parameter(t.zeros(2))
    x.role = weight.role = {"part": ["head"]}
    twin, read = copy.deepcopy(x), pickle.loads(pickle.dumps(x))
    assert twin.role == read.role == x.role == weight.role
    twin.role["part"].append("tail")
    assert x.role == {"part": ["head"]}
    assert not any(hasattr(other, "role") for other in (x * 2, x.detach(), x.clone(), weight * 2))
    del x.role
    assert not hasattr(x, "role")


def test_saved_leaf_is_the_leaf(t):
    """What a backward puts on a saved leaf is found on the leaf."""

    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            x.main_grad = g * 2
            return None

    x = t.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad is None
    assert values(x.main_grad) == [2.0, 2.0]


def test_backward_hooks(t):
    """``_backward_hooks`` are the hooks on a tensor by number: None without any, to be set, not to be deleted."""
    x = t.ones(2, requires_grad=True)
    y = x * 2
    assert x._backward_hooks is None
    assert y._backward_hooks is None
    handle = y.register_hook(lambda g: g * 3)
    assert list(y._backward_hooks) == [handle.id]
    y.sum().backward()
    assert values(x.grad) == [6.0, 6.0]
    handle.remove()
    assert repr(y._backward_hooks) == "OrderedDict()"
    constant = t.ones(2)
    constant._backward_hooks = {"never": lambda g: 1 / 0}
    (constant * x).sum().backward()
    with pytest.raises(RuntimeError, match="Deletion of _backwards_hooks not allowed!"):
        del x._backward_hooks
    with pytest.raises(RuntimeError, match="Deletion of _grad_fn not allowed. Detach tensor instead!"):
        del y._grad_fn
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed. Delete tensor instead!"):
        del x.data
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        del x.requires_grad


def test_types_of_tensors(t):
    """``FloatTensor`` and its kin make tensors, and are the types of tensors of their dtype."""
    x = t.ones(2, 3)
    assert isinstance(x, t.FloatTensor)
    assert isinstance(x.double(), t.DoubleTensor)
    assert isinstance(x.type(t.IntTensor), (t.LongTensor, t.IntTensor))
    assert isinstance(t.nn.Parameter(x), t.FloatTensor)
    assert not any(isinstance(other, t.FloatTensor) for other in (x.double(), x.long(), 1.0))
    assert t.LongTensor.dtype is t.int64
    assert t.FloatTensor().dtype == t.float32
    assert x.type(t.FloatTensor).data_ptr() == x.data_ptr()


def test_new_of_a_size(t):
    """A ``Size`` says how large a new tensor is; any other sequence is its data."""
    x = t.tensor([2, 5])
    size = t.zeros(3, 2).size()
    assert [list(made.shape) for made in (x.new(size), t.Tensor(size), t.FloatTensor(size))] == [[3, 2]] * 3
    assert list(x.new(x[0].size()).shape) == []
    assert x.new((3, 2)).tolist() == [3, 2]
    assert x.new(size).dtype == t.int64


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_where_memory_lies(t):
    """Tensors that share memory have storages at one address; a storage has all entries of the memory."""
    x = t.zeros(2, 3)
    for shared in (x, x[1], x.t(), x.detach(), x.view(-1)[2:]):
        assert shared.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        assert shared.storage().data_ptr() == x.data_ptr()
        assert len(shared.storage()) == 6
    assert x.clone().untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_how_large_memory_is(t):
    """What hooks of saved tensors add up; size() and nbytes() were numbers, which nobody could call."""
    x = t.zeros(2, 3)
    for shared in (x, x[1], x.t()):
        whole, typed = shared.untyped_storage(), shared.storage()
        assert (whole.nbytes(), whole.size(), len(whole), whole.element_size()) == (24, 24, 24, 1)
        assert (typed.nbytes(), typed.size(), len(typed), typed.element_size()) == (24, 6, 6, 4)
        assert (str(whole.device), whole.is_cuda) == ("cpu", False)
    assert t.zeros(3, dtype=t.float64)[1:].untyped_storage().nbytes() == 24


def test_a_dtype_says_what_it_is(t):
    assert [d.is_floating_point for d in (t.float16, t.float32, t.int64, t.complex64)] == [True, True, False, False]
    assert [d.is_complex for d in (t.float64, t.complex64, t.complex128)] == [False, True, True]
    assert [d.is_signed for d in (t.uint8, t.int8, t.float32, t.complex64, t.bool)] == [False, True, True, True, False]
    assert [d.itemsize for d in (t.bool, t.float16, t.complex128)] == [1, 2, 16]
    assert (t.float64.to_complex(), t.complex64.to_real(), t.int32.to_real()) == (t.complex128, t.float32, t.int32)
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Long"):
        t.int64.to_complex()


def test_there_is_one_object_for_each_dtype(t):
    x = t.ones(2, dtype=t.float64)
    assert x.dtype is t.float64 is t.double
    assert x.sum().dtype is x.to(t.float64).dtype is t.promote_types(t.float64, t.int8)
    assert t.get_default_dtype() is t.float32 is t.result_type(t.ones(1, dtype=t.int64), 0.5)
    assert pickle.loads(pickle.dumps(t.float64)) is copy.deepcopy(t.float64) is t.float64
    assert isinstance(x.dtype, t.dtype)
    assert {t.float64: 1}[x.dtype] == 1
    rows = t.ones(2, 1, dtype=t.float64)
    assert t.func.vmap(lambda row: row * (2 if row.dtype is t.float64 else 3))(rows).tolist() == [[2.0], [2.0]]


@pytest.mark.parametrize("base", ["Tensor", "nn.Parameter"])
def test_subclasses_that_are_made_by_their_new(t, base):
    """``__init__`` leaves the tensor as ``__new__`` made it, and takes whatever arguments that takes."""
    parent = t.Tensor if base == "Tensor" else t.nn.Parameter

    class Length(parent):
        def __new__(cls, data, unit):
            made = t.Tensor._make_subclass(cls, data, True)
            made.unit = unit
            return made

    data = t.ones(2)
    x = Length(data, unit="m")
    assert (type(x), x.unit, x.is_leaf, x.requires_grad) == (Length, "m", True, True)
    assert x.tolist() == Length(data, "m").tolist() == [1.0, 1.0]
    data.mul_(3)
    assert x.tolist() == [3.0, 3.0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_make_subclass_gives_leaves(t):
    """What came before is no part of the tensor's history, and gradients are asked for anew."""

    class Plain(t.Tensor):
        def __new__(cls, data):
            return t.Tensor._make_subclass(cls, data)

    x = Plain(t.ones(2, requires_grad=True) * 2)
    assert (x.grad_fn, x.is_leaf, x.requires_grad) == (None, True, False)
    with pytest.raises(TypeError):
        t.Tensor._make_subclass(int, t.ones(2))


def test_parts_and_sums_of_shapes_are_shapes(t):
    shape = t.ones(2, 3, 4).shape
    for made in (shape[1:], shape[:-1], shape + (5,), (5,) + shape, shape + shape, shape * 2, 2 * shape, shape[3:]):
        assert type(made) is t.Size
        assert made.numel() == np.prod(made)
    assert (shape[-1], shape[0]) == (4, 2)
    assert (5, *shape) == (5,) + shape == (5, 2, 3, 4)
    with pytest.raises(TypeError):
        shape + [5]
