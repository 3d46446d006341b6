"""The tensor users hold: data, flags, methods bound from the op table, NumPy protocols.  No mathematics."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad import dtypes
from symgrad.devices import arranged, contiguous_format, is_device_name, on_cpu, preserve_format
from symgrad.errors import ArgumentError, AutogradError, DtypeError
from symgrad.op import lookup, shape_of
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.indexing.places import fitted
from symgrad.ops.reductions.sums import cast
from symgrad.ops.shapes.shaping import size_args, spread
from symgrad.tape import record
from symgrad.tape.backward.siblings import output_number
from symgrad.tape.formulas.constants import note_sizes
from symgrad.tape.formulas.parts import sizes_of_part
from symgrad.tape.formulas.sizes import note_length
from symgrad.tape.forward.dual import NUMPY, TensorType
from symgrad.tape.forward.dualwrites import memory
from symgrad.tape.memory.aliases import stands_apart, views_follow
from symgrad.tape.memory.inplace import inplace, overwrite, refuse, resize
from symgrad.tape.memory.overlap import PARTIAL, meets, overlaps, same_place
from symgrad.tape.memory.subscripts import part_of, read_index, set_number, writable
from symgrad.tape.memory.versions import apart, changes, note_detached, note_formed, note_replaced
from symgrad.tape.memory.views import base_of, become_leaf, inferred, note_twin, out_of_reach, shows_temporary, view_of
from symgrad.tape.memory.writing import (
    WHOLE,
    filled,
    fills,
    fitted_to,
    in_dtype_of,
    narrowed,
    put,
    refused,
    writes_by_cases,
    written,
)
from symgrad.tape.modes import MODE
from symgrad.tape.numbering import sequence
from symgrad.tape.overriding import dispatched, unasked
from symgrad.tape.record import Recorded, plain
from symgrad.tape.standins import StandIn
from symgrad.tape.watching.captured import REPLACED, SWITCHED, inside, transforming
from symgrad.tape.watching.watch import WATCH, note_problem, note_read, note_sharing
from symgrad.tensor.binding import bind
from symgrad.tensor.gradients import Gradients
from symgrad.tensor.numbers import Numbers
from symgrad.tensor.sharing import Sharing
from symgrad.tensor.shown import Shown
from symgrad.tensor.turned import Turned
from symgrad.tensor.writes import Writes

if TYPE_CHECKING:
    from symgrad.sparse import SparseTensor
    from symgrad.tensor.kinds import Index


class Tensor(Shown, Turned, Numbers, Writes, Sharing, Gradients, metaclass=TensorType):
    """A value with an optional history: number, formula and gradient of one array.

    Made by :func:`symgrad.tensor` and by every operation on tensors.  Attributes follow ``torch.Tensor``.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    >>> (x**2).sum().backward()
    >>> x.grad, x.grad.expr
    (tensor([2., 4.]), 2*x)
    """

    __slots__ = ("__dict__",)  # for attributes of the user's own
    __array_priority__ = 1000

    def __init__(self, *data: Any, **options: Any):
        """``Tensor([1.0])``: data in the default dtype; ``Tensor(2, 3)``: that shape, filled with zeros."""
        from symgrad.tensor.creation import legacy_value

        if hasattr(self, "_value"):
            return  # made by the ``__new__`` of a subclass, for which the arguments were
        if options:
            raise ArgumentError(
                f"Tensor() takes no argument {next(iter(options))!r}: tensor(data, dtype=...) has some."
            )
        self._value = legacy_value(data)
        self._node, self._requires_grad, self._extra = None, False, None
        self.more().site = record.call_site(1)

    # -------------------------------------------------------------------------------------- data and flags

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        if self._requires_grad or self._extra is None:
            return self._requires_grad
        view = self._extra.view  # a view follows its base, as in torch, though nothing may be recorded for it
        return self._extra.claims or (view is not None and bool(view.base._requires_grad))

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise AutogradError(f"requires_grad must be a bool, not {type(value).__name__}")
        if self._node is not None and self._requires_grad and value:
            raise AutogradError("you can only change requires_grad flags of leaf variables.")
        self._require(bool(value), "floating point and complex")

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise AutogradError("requires_grad must be a bool: set it to False instead of deleting it")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` of a leaf and return it.

        Integer and bool tensors raise ``RuntimeError``; so does switching a non-leaf off, and any call inside of a
        function that is transformed.
        """
        if inside():
            raise AutogradError(SWITCHED)
        if not isinstance(requires_grad, bool):
            raise ArgumentError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        return self._require(requires_grad)

    def _require(self, requires_grad: bool = True, kinds: str = "floating point") -> Tensor:
        """``requires_grad_`` for the library's own use, also inside of a function that is transformed."""
        if requires_grad and not dtypes.is_floating(self.dtype):
            raise DtypeError(
                f"only Tensors of {kinds} dtype can require gradients "
                f"(this one has dtype {self.dtype}; cast it with .double() or dtype=)"
            )
        if inferred(self):
            if requires_grad and not MODE.local.inference:
                raise AutogradError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. Make a "
                    "clone() to get a normal tensor."
                )
            self.more().claims = bool(requires_grad)
            return self
        if self._requires_grad and self._node is not None:
            if not requires_grad:
                raise AutogradError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            return self
        if requires_grad:
            extra = self.more()
            extra.site = extra.site or record.call_site(1)
            if extra.twin and self._node is None and view_of(self) is None:
                note_twin(self)
            if self._node is not None and WATCH.count:
                note_problem("it makes a leaf of what it computed; use symgrad.func.grad for gradients inside")
            self._node = None
            extra.origin = None
            extra.depth, extra.inner = (depth, next(sequence)) if (depth := transforming()) else (0, 0)
        view = view_of(self)
        if view is not None:
            if requires_grad:
                become_leaf(self)
            view.leaf = bool(requires_grad)
            requires_grad = requires_grad or (out_of_reach(self) and view.base.requires_grad)
        self._requires_grad = bool(requires_grad)
        views_follow(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """True for tensors the user made, and for all that do not require grad."""
        if not self._requires_grad or self._node is None:
            return True
        return self._node.op is None  # False; a view that was made unusable raises here, as in torch

    @property
    def grad_fn(self) -> Any:
        """The node that computed this tensor; None for leaves."""
        from symgrad.autograd.graph import node_of

        return node_of(self)

    @property
    def output_nr(self) -> int:
        """Which output of ``grad_fn`` this tensor is."""
        if self._lost:
            return self._extra.view.place[0]  # type: ignore[union-attr]
        return 0 if self._node is None or self._node.op is None else output_number(self._node)

    @property
    def volatile(self) -> bool:
        """False: there are no volatile tensors any more; asking warns, as in torch."""
        import warnings

        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    @volatile.setter
    def volatile(self, _: Any) -> None:
        import warnings

        warnings.warn(
            "volatile was removed and now has no effect. Use `with no_grad():` instead", UserWarning, stacklevel=2
        )

    # -------------------------------------------------------------------------------------- leaving the graph

    @property
    def data(self) -> Tensor:
        """The same memory without history; changes through it are counted apart, so backward does not object."""
        out = self.detach()
        extra = out.more()
        extra.counted, extra.detached, extra.site = 0, None, record.call_site(1)
        out._value = apart(out._value)
        return out

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, (Tensor, np.ndarray)):
            raise ArgumentError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if transforming():
            raise AutogradError(REPLACED)
        if WATCH.count:
            note_problem("it sets .data, which no graph shows")
        new = value if isinstance(value, Tensor) else plain(Tensor, np.asarray(value))
        if self._requires_grad and not dtypes.is_floating(new.dtype):
            raise DtypeError(
                f"data set to a tensor that requires gradients must be floating point or complex dtype, not {new.dtype}"
            )
        place: Any = self if self._node is None else self._node
        if not self._requires_grad and self._node is None and self._extra is not None:
            place = self._extra.source or self
        former, extra = self._array(), self.more()
        counted, self._value = changes(former), apart(new._array())
        extra.renewed = note_replaced(former, place, self._value)
        if (former.shape, former.dtype) != (self._value.shape, self._value.dtype):
            note_formed(self, extra.renewed, former)
            stands_apart(self)
        extra.counted += counted
        extra.strides = None if self._value.size else new.stride()
        extra.former = (*extra.former, weakref.ref(former))[-8:]
        if extra.tether is not None:
            extra.tether.value = self._value
        if not self._requires_grad:
            self._node = None  # how a constant was computed says nothing about other values

    @data.deleter
    def data(self) -> None:
        raise AutogradError("Deleting tensor data is not allowed. Delete tensor instead!")

    def detach(self) -> Tensor:
        """The same memory without history; a new symbol in formulas.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0], requires_grad=True)
        >>> (2 * x).detach()
        tensor([2.])
        """
        view = view_of(self)
        if WATCH.count and WATCH.local.stack and record.traced(self):
            return note_sharing(self if view is None else view.base, lookup("detach")(self))  # type: ignore[no-any-return]
        out = plain(Tensor, self._array())
        extra = out.more()
        extra.site, extra.inference, extra.twin = record.call_site(1), inferred(self), True
        extra.counts = extra.inference and not MODE.local.inference
        shared = self._extra if view is None else view.base._extra
        if shared is not None:
            extra.counted, extra.detached = shared.counted, shared.detached
            if view is not None:
                extra.counted += changes(view.base._value) - changes(out._value)
            extra.strides = shared.strides if view is None else None if out._value.size else self.stride()
        if self._requires_grad:
            extra.detached = weakref.ref(self if view is None else view.base)
        if WATCH.count:
            note_sharing(self if view is None else view.base, out)
        return out  # type: ignore[no-any-return]

    def detach_(self) -> Tensor:
        """Forget the history of this tensor; a view cannot.  In inference mode nothing happens, as in torch."""
        if MODE.local.inference:
            return self
        if self._is_view():
            raise AutogradError("Can't detach views in-place. Use detach() instead.")
        if self._requires_grad and self._node is not None:
            note_detached(self, self._array())
            if (hooks := self._backward_hooks) is not None:  # they are the tensor's, which may be a leaf soon
                self.more().hooks = hooks
        followed = WATCH.count and WATCH.local.stack and self._node is not None and record.traced(self)
        self._node = lookup("detach")(self)._node if followed else None  # a tracer goes on to follow the values
        self._requires_grad = False
        if self._extra is not None:
            views_follow(self)
        return self

    def clone(self, *, memory_format: Any = None) -> Any:
        """A copy with history."""
        made = lookup("clone")(self)
        made._value = arranged(made._value, memory_format)
        if not made._value.size:
            made.more().strides = self.stride()
        return made

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from symgrad.interop import Array, call_ufunc

        if any(isinstance(x, Array) for x in inputs):  # which answers for both
            return NotImplemented
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from symgrad.interop import Array, call_function

        if Array in types:
            return NotImplemented
        return call_function(func, args, kwargs)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise ArgumentError("iteration over a 0-d tensor")
        note_length(self, sizes_of_part(self))
        return iter(FUNCTIONS["unbind"](self))

    def __contains__(self, item: Any) -> bool:
        if not isinstance(item, (Tensor, Number, np.ndarray)):
            raise ArgumentError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(item)}."
            )
        other = memory(item) if isinstance(item, Tensor) else item
        if WATCH.count or self._node is not None or self._requires_grad:
            note_read(self, "in")
        return bool(np.any(self._value == other))

    def __format__(self, spec: str) -> str:
        if self.ndim or self.__class__ is not Tensor:
            return object.__format__(self, spec)
        return format(self._told(sys._getframe(1), spec), spec)

    # -------------------------------------------------------------------------------------- indexing and in-place

    def __getitem__(self, index: Index) -> Any:
        return part_of(self, index)

    def __setitem__(self, index: Index, value: Any) -> None:
        if WATCH.count and fills(self, index, value):
            inplace(self, lambda x: filled(x, index, value), (), {}, even=True)
            return
        if index is False or (value.__class__ in (float, int) and set_number(self, index, value)):
            return  # of False: nothing is chosen, and torch records nothing
        origin = None
        if isinstance(index, Tensor) and writes_by_cases(self, index, value):
            # Formulas show where the mask holds by what it came from: they do not hold for these entries alone.
            origin, index = index.edge(), index._value
        first, chosen, places = read_index(self, index)
        if first is not None:
            first[chosen] = value
            return
        chosen.origin = origin
        if chosen.fancy:
            refuse(self, (value,), "index_put_")  # torch looks at the places later
        if isinstance(self._value, np.ndarray) and chosen.value is not Ellipsis and overlaps(self._value):
            part = getitem(self, chosen.filled(places))
            if part._is_view():  # which may show every entry once
                part[...] = value
                return
        value = value.tensor if isinstance(value, StandIn) else value
        if not (given := isinstance(value, Tensor)):
            number = value
            value = plain(Tensor, writable(number, self.dtype))
            if isinstance(number, (float, int)) and not isinstance(number, (bool, np.generic)):
                value.more().recipe = ("number", {"value": number})
                note_sizes(value, (number,))
        value = fitted_to(self, chosen, value)
        name = written(self, chosen, value)
        if self.dtype != value.dtype and (given or value.dtype.kind == "c" != self.dtype.kind):
            value = narrowed(self, chosen, places, value)
        if name == "IndexPutBackward0" and isinstance(value, record.Recorded):
            masks = any(str(getattr(p, "dtype", "")) == "bool" for p in (*chosen.parts, *places))
            if not (masks and value._value.size == 1) and meets(value, self, apart=True):  # one number fills a mask
                raise AutogradError(PARTIAL)
        try:
            if overwrite(self, value, chosen.filled([place._value for place in places])):
                return
            # Of an index with arrays it is torch's index_put_ or masked_fill_.
            op = lambda x: put(x, in_dtype_of(x, value), chosen, name, places, source=value)  # noqa: E731
            inplace(self, op, (), {}, even=chosen.fancy, put=value)
        except AutogradError as error:
            raise refused(self, chosen.filled([place._value for place in places]), name, error) from None

    def __reversed__(self) -> Tensor:
        """The parts along the first axis in reverse order."""
        return self.flip(0) if self._value.ndim else self  # type: ignore[attr-defined]

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def _inplace(self, op: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
        """``op`` with the result put back into this tensor's memory and history."""
        return inplace(self, op, args, kwargs, table=True)  # type: ignore[no-any-return]

    def zero_(self) -> Tensor:
        """Fill with zeros in place."""
        return self._filled(0, "ZeroBackward0")  # type: ignore[no-any-return]

    def fill_(self, value: Any) -> Tensor:
        """Fill with one value in place."""
        if getattr(value, "ndim", 0):
            raise AutogradError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
            )
        value = dtypes.as_python_number(value) if isinstance(value, np.generic) else value
        if isinstance(value, (int, float, complex)):
            value = fitted(value, self.dtype)
        elif found := unasked((value,), {}):
            return dispatched(Tensor.fill_, found, (self, value), {})  # type: ignore[no-any-return]
        return self._filled(value, f"FillBackward{2 + isinstance(value, Tensor)}")  # type: ignore[no-any-return]

    def copy_(self, other: Any, non_blocking: bool = False) -> Tensor:  # noqa: ARG002  (nothing is waited for)
        """Copy another tensor's values into this one, cast to its dtype."""
        value, mine = spread(other, self._value.shape), self._array()
        if overwrite(self, value):
            return self
        if found := unasked((other,), {}):
            return dispatched(Tensor.copy_, found, (self, other), {})  # type: ignore[no-any-return]
        itself = overlaps(mine) and isinstance(other, Recorded) and same_place(mine, other._array())
        if getattr(value, "dtype", None) != self.dtype:
            value = cast(value, self.dtype)
        op = lambda x, _: put(x, value, WHOLE, "CopyBackwards", source=other)  # noqa: E731
        return inplace(self, op, (other,), {}, itself)  # type: ignore[no-any-return]

    def resize_(self, *sizes: Any) -> Tensor:
        """Another shape in place, with the entries that lie in memory from the first one on, and zeros behind it.

        ``RuntimeError`` where the memory is too small and belongs to an array.
        """
        return self._resized(tuple(map(int, size_args(sizes))))

    def resize_as_(self, other: Any) -> Tensor:
        """The shape of another tensor in place, as :meth:`resize_`."""
        return self._resized(other.raw_shape)

    def _resized(self, shape: tuple[int, ...]) -> Tensor:
        if WATCH.count and shape != self._value.shape:
            note_problem("it resizes a tensor in place, which no graph shows")
        return resize(self, shape)  # type: ignore[no-any-return]

    @property
    def _version(self) -> int:
        if inferred(self) and not self.more().counts:
            raise AutogradError("Inference tensors do not track version counter.")
        from symgrad.autograd.graphs.shown import version_of

        return version_of(self)

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode, so that no graph may save it."""
        return inferred(self)

    @property
    def _base(self) -> Any:
        base = base_of(self)
        return None if base is self else base

    def _is_view(self) -> bool:
        return view_of(self) is not None or shows_temporary(self._node)

    def where(self, condition: Any, other: Any) -> Any:
        """The tensor's entries where ``condition`` holds, those of ``other`` elsewhere."""
        return FUNCTIONS["where"](condition, self, other)

    # -------------------------------------------------------------------------------------- other dtypes

    def full_like(self, value: Any) -> Tensor:
        """A constant tensor of this shape and dtype, which formulas show as its number."""
        made = plain(type(self), np.full_like(self._value, value)[()])
        shape, dtype = shape_of(self), self._value.dtype.name
        made.more().recipe = ("full", {"shape": shape, "value": value, "dtype": dtype})
        return made  # type: ignore[no-any-return]

    def to(
        self,
        *args: Any,
        dtype: Any = None,
        copy: bool = False,
        device: Any = None,
        non_blocking: bool = False,  # noqa: ARG002  (torch's signature; there is nothing to wait for)
        memory_format: Any = preserve_format,
    ) -> Any:
        """In another dtype, or in that of another tensor; the one device there is, is the CPU.

        Raises ``DeviceError`` for others.

        >>> import symgrad as sg
        >>> sg.tensor([1, 2]).to(sg.float64)
        tensor([1., 2.], dtype=float64)
        """
        on_cpu(device)
        for arg in args:
            if isinstance(arg, Tensor):
                dtype = arg.dtype
            elif is_device_name(arg):
                on_cpu(arg)
            elif not isinstance(arg, bool):
                dtype = arg
        copy = copy or [arg for arg in args if isinstance(arg, bool)][1:2] == [True]  # behind non_blocking
        if dtype is None or dtypes.as_dtype(dtype) == self.dtype:
            made = self.clone() if copy else self
        else:
            made = cast(self, dtype)
        return made if memory_format in (None, preserve_format) else made.contiguous(memory_format)

    def to_sparse(self, sparse_dim: int | None = None) -> SparseTensor:
        """The entries that are not zero, as a sparse tensor; see :mod:`symgrad.sparse`."""
        from symgrad.sparse import from_dense

        return from_dense(self, sparse_dim)

    def contiguous(self, memory_format: Any = contiguous_format) -> Tensor:
        """The tensor itself where its memory is in this order, row-major unless stated, else a copy that is."""
        if self.is_contiguous(memory_format):
            return self
        return self.clone(memory_format=memory_format or contiguous_format)  # type: ignore[no-any-return]

    # -------------------------------------------------------------------------------------- autograd

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
        **legacy: Any,
    ) -> None:
        """Add the gradient of this tensor to the ``.grad`` of the leaves it came from.

        ``gradient`` has this tensor's shape and is needed unless it has one element.  Raises ``RuntimeError`` in
        torch's words for a missing gradient, a second pass without ``retain_graph``, or no grad to compute.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
        >>> (x**3).sum().backward()
        >>> x.grad
        tensor([ 3., 12.])
        >>> (x * 2).backward(gradient=sg.tensor([1.0, 10.0]))
        >>> x.grad  # gradients add up until x.grad = None
        tensor([ 5., 32.])
        """
        from symgrad.autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs, **legacy)

    def __repr__(self) -> str:
        return self._text()

    def _text(self, more: tuple[str, ...] = ()) -> str:
        from symgrad.tensor.display import tensor_text

        return tensor_text(self, more)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from symgrad.tape.pickling import reduce_tensor

        return reduce_tensor(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from symgrad.tape.pickling import WITH_GRAPH, deep_copy

        grad = None if self._extra is None else self._extra.grad
        if WITH_GRAPH not in memo and not (self.is_leaf and (grad is None or grad.is_leaf)):
            raise AutogradError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment. To copy a result together with its graph use symgrad.copy_graph(t), or pickle it; for the "
                "numbers alone use t.detach().clone()."
            )
        return deep_copy(self, memo)


TensorType.tensor = Tensor
FUNCTIONS: dict[str, Callable[..., Any]] = bind(Tensor)
"""Public functions by name, as they appear in the ``symgrad`` namespace."""


def _of_ufunc(*given: Any) -> Any:
    from symgrad.interop import call_ufunc

    return call_ufunc(*given)


def _of_function(*given: Any) -> Any:
    from symgrad.interop import call_function

    return call_function(*given)


NUMPY.update(ufunc=_of_ufunc, function=_of_function)
