"""A tensor that answers as a NumPy array does: ``x.max(axis=1)``, ``x.std()``, ``x.size``, ``x.copy()``.

Tensors have torch's methods, and some of the same name mean something else in NumPy.  Programs written for arrays run
on these: every method is NumPy's function of that name, which the op table knows.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.interop.callers import callee_of_program, is_of_arrays, place_of_program, writes_entry
from symgrad.interop.functions import dtype_of, not_followed, not_written, tensor as tensor_of
from symgrad.interop.into import refuse_arrays
from symgrad.interop.writing import WRITERS, added_at, write
from symgrad.op import Op, lookup, register_carrier
from symgrad.ops.indexing.getitem import static_index
from symgrad.tape.containers import tree_map
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.forward.dualwrites import at_rest
from symgrad.tape.forward.jets import Jet
from symgrad.tape.record import Recorded
from symgrad.tape.standins import StandIn, inner
from symgrad.tape.watching.nudges import own
from symgrad.tape.watching.taken import is_retold
from symgrad.tape.watching.watch import WATCH

MOVING = (Recorded, Dual, Jet, Bundle)
"""What derivatives follow: tensors, and those that move along a tangent, a path or a batch."""


class Numbers(list[Any]):
    """The tensors that a run has turned into plain numbers, in order; single entries, too, where they are tensors'.

    ``lost`` is the error of a function that was refused numbers: code in C may go on after it.  ``place`` is where the
    first number was made, and ``nudge`` by what part of itself about every number is changed.
    """

    def __init__(self, of_tensors: bool = False, nudge: float = 0.0):
        self.of_tensors = of_tensors
        self.nudge = nudge
        self.lost: Exception | None = None
        self.place: tuple[str, int] | None = None

    def nudged(self, number: Any) -> Any:
        """A number that a program makes, the last one here."""
        return number + self.nudge * own(len(self)) * (abs(number) or 1.0) if self.nudge else number

    def last(self) -> Any:
        """The last one, as the program has it."""
        return self.nudged(bare(self[-1]))


def bare(value: Any) -> Any:
    """The array or number of a tensor, or of one that moves; other things as they are."""
    value = at_rest(value)
    return value._value if isinstance(value, Recorded) else value


def _share_memory(a: Any, b: Any) -> bool:
    """Whether one may be a view of the other; single entries are none in NumPy."""
    a, b = bare(a), bare(b)
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.ndim > 0 and np.may_share_memory(a, b)


def _written(ufunc: Any, method: str, operands: Any, kwargs: Any, out: Any) -> Any:
    """``out`` with the results written in, for operands that have no memory to be written into."""
    mask = kwargs.pop("where", True) if method == "__call__" else True
    found = getattr(ufunc, method)(*operands, **kwargs)
    for part, result in zip(out, found if isinstance(found, tuple) else (found,), strict=True):
        if not isinstance(part, Array):
            refuse_arrays(f"np.{ufunc.__name__}", (part,), operands)
        part[...] = result if mask is True else np.where(mask, result, part.tensor)
    return out[0] if len(out) == 1 else out


def _row(values: Any) -> Any:
    """Lists of numbers and tensors as one tensor, or as an array where there is none."""
    parts: list[Any] = [_row(value) if isinstance(value, (list, tuple)) else value for value in values]
    if not any(isinstance(part, MOVING) for part in parts):
        return np.asarray(parts)
    dtype = np.result_type(*map(dtype_of, parts))
    return lookup("stack")(*(tensor_of(part).to(dtype) for part in parts), dim=0)


def _places(key: Any) -> Any:
    """An index in which lists are rows of places, as in NumPy, also where places are tensors."""
    if isinstance(key, list) and any(isinstance(part, MOVING) for part in key):
        return _row(key)
    return tuple(map(_places, key)) if isinstance(key, tuple) else key


def _in_place(name: str) -> Callable[..., Any]:
    """``x += y``: numbers are not changed, and the name has another one afterwards."""
    change = getattr(np.lib.mixins.NDArrayOperatorsMixin, f"__i{name}__")
    anew = getattr(np.lib.mixins.NDArrayOperatorsMixin, f"__{name}__")

    def call(self: Array, other: Any) -> Any:
        return (change if self.ndim or self._has_memory else anew)(self, other)

    return call


_METHODS: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "conj", "conjugate", "cumprod",
    "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "put", "ravel", "repeat", "round",
    "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
)}  # fmt: skip
"""Methods that are NumPy's functions of their names, as these were before a program was followed."""


def _one_or_many(values: tuple[Any, ...]) -> Any:
    """Sizes and axes that ndarray's methods take as one tuple, or one by one."""
    return values[0] if len(values) == 1 else values


class Array(StandIn, np.lib.mixins.NDArrayOperatorsMixin):
    """A tensor with the methods of ``numpy.ndarray``.

    ``numbers`` is shared by all arrays of a run: the tensors that were turned into plain numbers, in order.

    >>> import symgrad as sg
    >>> x = Array(sg.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True))
    >>> x.max(axis=1)
    Array(tensor([2., 5.], grad_fn=<AmaxBackward0>))
    >>> x.std(0).tensor.tolist(), x.size
    ([1.0, 1.5], 4)
    """

    def __init__(self, tensor: Any, numbers: Numbers | None = None, has_memory: bool = False):
        self._tensor = tensor
        self._has_memory = has_memory  # where it has no axes: others are numbers, which nothing changes
        self.numbers = Numbers() if numbers is None else numbers
        self._base: Array | None = None  # of a view: the array whose memory it reads, ...
        self._read: Any = None  # ... how it reads the tensor of that, ...
        self._from: Any = None  # ... and which tensor it has read
        self._is_item = False  # a number by item(), which has no item() itself: libraries in C ask until there is none

    @property
    def tensor(self) -> Any:
        """The tensor inside; that of a view shows what was written into the array since."""
        if self._base is not None and self._base.tensor is not self._from:
            self._from = self._base.tensor
            self._tensor = self._read(self._from)
        return self._tensor

    def __repr__(self) -> str:
        if self._is_item:
            self._told(sys._getframe(1))
            return repr(bare(self.tensor).item())
        return f"Array({self.tensor!r})"

    def _told(self, frame: Any) -> None:
        """A text tells the number, which a program holds for where the user's program reads that again."""
        if WATCH.count and hasattr(self.tensor, "_value") and not self.ndim and is_retold(frame.f_code, frame.f_lasti):
            self.tensor.item()

    # ------------------------------------------------------------------------------------------ NumPy's protocols

    def _viewed(self, read: Callable[[Any], Any], always: bool = False) -> Any:
        """What ``read`` makes of the tensor, as arrays; those in the same memory are views, as NumPy's would be."""
        before = self.tensor
        found = self.whole(read(before))
        parts = list(found) if isinstance(found, (list, tuple)) else [found]
        for k, part in enumerate(parts):
            if isinstance(part, Array) and (always or _share_memory(part._tensor, before)):
                part._base, part._from, part._has_memory = self, before, True
                part._read = read if part is found else lambda tensor, k=k: read(tensor)[k]
        return found

    def whole(self, found: Any) -> Any:
        """Tensors of the same run as arrays, also inside of lists and tuples."""
        if isinstance(found, MOVING):
            return Array(found, self.numbers)
        if isinstance(found, (list, tuple)):
            parts = [self.whole(part) for part in found]
            return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "at" and isinstance(inputs[0], Array):
            inputs[0][...] = added_at(f"np.{ufunc.__name__}.at", ufunc, *inner(inputs))
            return None
        operands, kwargs = inner(inputs), inner(kwargs)
        if out is not None:
            for part in out:
                if isinstance(part, Array):
                    part._own()
            if any(isinstance(faced(x), (Dual, Jet, Bundle)) for x in (*operands, *inner(out))):
                return _written(ufunc, method, operands, kwargs, out)
            getattr(ufunc, method)(*operands, **kwargs, out=inner(out))
            return out[0] if len(out) == 1 else out
        return self.whole(getattr(ufunc, method)(*operands, **kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in WRITERS and isinstance(args[0], Array):
            args[0]._own()
        given, kwargs = self._for_tensors((args, kwargs))
        if args and isinstance(args[0], Array):
            return args[0]._viewed(lambda tensor: func(tensor, *given[1:], **kwargs))
        return self.whole(func(*given, **kwargs))

    def _for_tensors(self, given: Any) -> Any:
        """Arguments for a function on tensors; functions of the user among them are still given arrays."""

        def changed(value: Any) -> Any:
            if not callable(value) or isinstance(value, (type, np.ufunc)):
                return value

            @functools.wraps(value)
            def of_arrays(*args: Any, **kwargs: Any) -> Any:
                return inner(value(*self.whole(args), **{key: self.whole(part) for key, part in kwargs.items()}))

            return of_arrays

        return tree_map(changed, inner(given))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        try:
            return self.tensor.__array__(dtype, copy)
        except AutogradError:
            raise self._lost() from None

    def _lost(self) -> Exception:
        self.numbers.lost = not_followed(callee_of_program())
        return self.numbers.lost

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return functools.partial(_METHODS[name], self)
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        raise AttributeError(
            f"ndarray.{name} of an array that a derivative follows is not in symgrad's op table, so its gradient would "
            "be lost. Write it with other methods, or with functions of NumPy."
        )

    def __format__(self, how: str) -> str:
        self._told(sys._getframe(1))
        return format(bare(self.tensor), how)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    # ------------------------------------------------------------------------------------------ numbers

    def _number(self) -> Any:
        if self._moves():
            if writes_entry(sys._getframe(2)):
                self.numbers.lost = not_written()
                raise self.numbers.lost
            if is_of_arrays(sys._getframe(2).f_code.co_filename):  # which gives something made of it
                raise self._lost()
            if not self.numbers:
                self.numbers.place = place_of_program()
            self.numbers.append(self.tensor)
        return self.tensor

    def _moves(self) -> bool:
        """Whether the entries are such as derivatives follow."""
        tensor = faced(self.tensor)
        return tensor.dtype.kind in "fc" and (not isinstance(tensor, Recorded) or tensor._requires_grad)

    def _whole_number(self, function: Any) -> int:
        """By a function whose slope is 0, so that no derivative misses the number."""
        return int(function(self).tensor.item() if self.dtype.kind == "f" else self.tensor)

    def __float__(self) -> float:
        number = self._number()
        return self.numbers.nudged(float(bare(number) if isinstance(number, Jet) else number))  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._whole_number(np.trunc)

    def __round__(self, digits: int | None = None) -> Any:
        return self._whole_number(np.round) if digits is None else np.round(self, digits)

    def __floor__(self) -> int:
        return self._whole_number(np.floor)

    def __ceil__(self) -> int:
        return self._whole_number(np.ceil)

    __trunc__ = __int__

    def __complex__(self) -> complex:
        return self.numbers.nudged(complex(self._number()))  # type: ignore[no-any-return]

    def __index__(self) -> int:
        return int(self.tensor.__index__())

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def item(self, *place: Any) -> Any:
        """One entry: without axes where derivatives may follow it, else a number."""
        if self._is_item:
            raise AttributeError("'float' object has no attribute 'item'")
        one = self[np.unravel_index(*place, self.shape) if len(place) == 1 else place] if place else self
        if one.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        if self._gives_numbers():
            return one._number().item()
        found = one.reshape(())
        found._is_item = True
        return found

    def _gives_numbers(self) -> bool:
        """Whether ``item()`` and ``tolist()`` give plain numbers, as those of tensors do."""
        return self.numbers.of_tensors or self.dtype.kind not in "fc"

    # ------------------------------------------------------------------------------------------ parts

    def __len__(self) -> int:
        return len(self.tensor)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, key: Any) -> Any:
        key = _places(inner(key))
        # With an ellipsis a single entry is an array, too, in the same memory.
        one = isinstance(key, tuple) and any(k is ... for k in key) and all(k is ... or isinstance(k, int) for k in key)
        return self._viewed(lambda tensor: tensor[key], one)

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = _places(inner(key)), inner(value)
        if isinstance(value, (list, tuple)):
            value = _row(value)
        if isinstance(value, Jet) or isinstance(self.tensor, Jet):
            self._made_anew(key, value)
            return
        self._own()
        write(self.tensor, key, value)

    def _made_anew(self, key: Any, value: Any) -> None:
        """Write where nothing changes in place: what this is a view of becomes a new tensor."""
        base, reads = self, []
        while base._base is not None:
            reads.append(base._read)
            base = base._base
        whole = base._tensor
        places = tensor_of(np.arange(base.size).reshape(base.shape))
        for read in reversed(reads):
            places = read(places)
        flat = lookup("index_put")(
            whole.reshape(-1), value, index=static_index((np.asarray(places._value)[bare(key)],))
        )
        base._tensor = flat.reshape(tuple(base.shape))

    def _own(self) -> None:
        """Memory that nobody has saved for a gradient, for what is written into: this, or what it is a view of."""
        base = self
        while base._base is not None:
            base = base._base
        base._tensor = base._tensor.clone()

    @property
    def flat(self) -> Any:
        """The entries in a row, to be read, written and counted."""
        return Flat(self)

    # ------------------------------------------------------------------------------------------ facts

    @property
    def shape(self) -> Any:
        """The sizes of the axes."""
        return self.tensor.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.tensor.ndim)

    @property
    def size(self) -> Any:
        """The number of entries."""
        return self.tensor.numel()

    @property
    def dtype(self) -> Any:
        """The dtype of the entries."""
        return self.tensor.dtype

    @property
    def itemsize(self) -> int:
        """The bytes of one entry."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return int(self.size) * self.itemsize

    @property
    def T(self) -> Any:  # noqa: N802  (its name in NumPy)
        """The axes in the opposite order."""
        return np.transpose(self)

    @property
    def real(self) -> Any:
        """The real part."""
        return self._viewed(lambda tensor: tensor.real)

    @property
    def imag(self) -> Any:
        """The imaginary part; zeros for real entries."""
        return np.imag(self)

    # ------------------------------------------------------------------------------------------ methods

    __iadd__ = _in_place("add")
    __isub__ = _in_place("sub")
    __imul__ = _in_place("mul")
    __itruediv__ = _in_place("truediv")
    __ifloordiv__ = _in_place("floordiv")
    __imod__ = _in_place("mod")
    __ipow__ = _in_place("pow")

    def compress(self, condition: Any, axis: int | None = None) -> Any:
        """The parts along an axis where a condition holds."""
        return np.compress(condition, self, axis)

    def astype(self, dtype: Any, **_: Any) -> Any:
        """The entries in another dtype."""
        return self.whole(self.tensor.to(np.dtype(dtype)))

    def copy(self, order: str = "C") -> Any:  # noqa: ARG002  (how it lies in memory is no matter here)
        """A copy."""
        return self.whole(self.tensor.clone())

    def fill(self, value: Any) -> None:
        """Write one number into all entries."""
        self[...] = value

    def flatten(self, order: Any = "C") -> Any:
        """A copy with one axis."""
        return np.ravel(self, order).copy()

    def reshape(self, *shape: Any, order: Any = "C") -> Any:
        """The entries in another shape, of sizes or of a tuple of them."""
        return np.reshape(self, _one_or_many(shape), order=order)

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Partition in place."""
        self[...] = np.partition(self, kth, axis)

    def sort(self, axis: int = -1, kind: Any = None) -> None:  # noqa: ARG002  (all of them give the same)
        """Sort in place."""
        self[...] = np.sort(self, axis)

    def tolist(self) -> Any:
        """The entries as nested lists: without axes where derivatives may follow them, else numbers."""
        if self._gives_numbers():
            return self._number().tolist()
        return [part.tolist() for part in self] if self.ndim else self

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order, by default the opposite one."""
        return np.transpose(self, _one_or_many(axes) if axes else None)


class Flat:
    """``x.flat`` of such an array: its entries in a row."""

    def __init__(self, array: Array):
        self.base = array

    def _places(self, key: Any) -> Any:
        return np.unravel_index(np.arange(self.base.size)[key], self.base.shape)

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.ravel(self.base))

    def __getitem__(self, key: Any) -> Any:
        return self.base[self._places(inner(key))]

    def __setitem__(self, key: Any, value: Any) -> None:
        places = self._places(inner(key))
        self.base[places] = np.resize(value, np.shape(places[0])) if np.ndim(value) else value

    def copy(self) -> Any:
        """A copy with one axis."""
        return self.base.flatten()

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        row = [np.ravel(part.base) if isinstance(part, Flat) else part for part in args]
        return func(*row, **kwargs)


def _apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """An op of the table on such arrays gives such arrays, also beside tensors."""
    array = next(arg for arg in args if isinstance(arg, Array))
    return array.whole(op(*inner(args), **inner(params)))


register_carrier(Array, 7, _apply)
