"""Methods and functions from the op table, bound to the tensor class: the one place that sets attributes in a loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, DtypeError, NotAnOperand, ShapeError
from symgrad.op import FRONTS, Op, lookup, register_carrier
from symgrad.op.fronts import by_place, names_in_order, of_operands, with_words
from symgrad.op.operators import ARITHMETIC, COMPARISONS
from symgrad.ops.calls.naming import INPLACE, SPACES, WORDS, by_name
from symgrad.ops.elementwise.arithmetic import over_tensor
from symgrad.ops.elementwise.bits import inverted
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.torch_nodes.labels import ANEW, COMPUTING, KEPT, LABELS, SCALING, Arranged
from symgrad.ops.torch_nodes.rewrites import FILLING, OF_FUNCTIONS
from symgrad.tape import fast, record
from symgrad.tape.backward.siblings import join
from symgrad.tape.folding import folding
from symgrad.tape.graph import Labelled, Node
from symgrad.tape.memory.anew import read_again
from symgrad.tape.memory.inplace import reshape_inplace
from symgrad.tape.memory.versions import Memory, kept, storage
from symgrad.tape.memory.views import conjugate_view, inferred, of_its_own, one_of_several
from symgrad.tape.misuse import FAILED, misused
from symgrad.tape.modes import MODE
from symgrad.tape.record import Recorded
from symgrad.tape.signatures import otherwise
from symgrad.tensor.calls import explained, method, with_out
from symgrad.tensor.docstrings import illustrate
from symgrad.tensor.plain import NUMBERS, OF_NUMBERS, of_numbers, plain_losses, writing
from symgrad.tensor.turned import read_as, unlinked

_BITS = {
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
_INPLACE = ("add", "sub", "mul", "div", "pow", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "neg",
            "abs", "clamp", "square", "reciprocal", "floor", "ceil", "round", "trunc",
            "greater", "greater_equal", "less", "less_equal", "not_equal")  # fmt: skip
_WRITING = (
    "abs", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "as_strided",
    "asin", "asinh", "atan", "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "cos",
    "cosh", "deg2rad", "detach", "erf", "erfc", "exp", "exp2", "expm1", "fill", "fix", "floor", "frac", "i0",
    "index_put", "ldexp", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg", "negative", "rad2deg",
    "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh",
    "trunc", "xlogy", "zero",
)  # fmt: skip
"""In-place methods that are functions too, as in torch."""
_RESHAPE = ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided")
"""Methods whose in-place form changes the shape and no memory."""
_SEVERAL = {"unbind": "Unbind", "split": "Split", "split_with_sizes": "SplitWithSizes", "chunk": "Split"}
"""Functions that return several views, and torch's name of their node."""
_UNSAFE = ("unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk")
"""Functions that return several parts in the same memory, which torch does not take for views."""
_TOGETHER = (
    *_SEVERAL,
    *_UNSAFE,
    "std_mean",
    "var_mean",
    "aminmax",
    "slogdet",
    "qr",
    "linalg.eig",
    "linalg.eigh",
    "linalg.lstsq",
    "linalg.lu",
    "linalg.qr",
    "linalg.slogdet",
    "linalg.svd",
)
"""Functions whose results are the outputs of one node in torch."""
_VIEWING = ("view", "view_as")
"""Methods that never copy."""
_COPYING = ("repeat", "tile", "diag", "index_select", "max", "min", "median", "nanmedian", "mode", "kthvalue", "topk",
            "prod", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax", "gather",
            "quantile", "nanquantile", "argsort", "index_add", "index_copy", "index_fill", "index_reduce",
            "scatter", "scatter_add", "scatter_reduce", "segment_reduce", "argmax", "argmin", "sort",
            "kron")  # fmt: skip
"""Functions made of views whose result has memory of its own in torch."""
_ALSO_INPLACE = ("alpha_dropout", "celu", "feature_alpha_dropout", "rrelu", "selu", "threshold")
_PLAIN = (
    "alpha_dropout", "bilinear", "celu", "cosine_similarity", "feature_alpha_dropout", "group_norm", "layer_norm",
    "pairwise_distance", "pdist", "rms_norm", "rrelu", "selu", "threshold",
)  # fmt: skip
"""Functions of ``nn.functional`` that stand in the plain namespace, too."""
_CASTS = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "cdouble": "complex128",
    "cfloat": "complex64",
}


def _fast(cls: type, op: Op) -> Callable[..., Any]:
    if (way := fast.way_of(cls, op, op)) is not None:
        return way
    arity = len(op.vjps) if not callable(op.vjps) else 0

    def of_one(input: Any) -> Any:
        return op(input)

    def of_several(*args: Any, **params: Any) -> Any:
        return op(*args, **params)

    call = of_one if arity == 1 else of_several
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.doc
    return call


def _operand(other: Any) -> bool:
    return isinstance(other, (Recorded, int, float, complex, np.ndarray, np.generic)) or hasattr(other, "value")


def _forward(cls: type, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def call(self: Any, other: Any) -> Any:
        if other.__class__ is cls or _operand(other):
            return function(self, other)
        return NotImplemented

    return call


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def call(self: Any, other: Any) -> Any:
        return NotImplemented if not _operand(other) else function(other, self)

    return call


def _inplace(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._inplace(function, *args, **kwargs)
        except FAILED as error:
            if (then := otherwise(f"Tensor.{name}", args, kwargs)) is not None:
                return call(self, *then[0], **then[1])
            raise misused(f"Tensor.{name}", function, (self, *args), kwargs, error) from error.__cause__

    return call


def _assigning(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operator in place, which leaves what is no operand to Python's own error."""

    def call(self: Any, other: Any) -> Any:
        try:
            return self._inplace(function, other)
        except NotAnOperand:
            return NotImplemented

    return call


def _real_inplace(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
    """An in-place function whose result is real, and so no complex tensor's."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.dtype.kind == "c":
            raise DtypeError(
                f"In-place {name} is not supported for complex tensors: the result is real; use t.{name}()"
            )
        return change(self, *args, **kwargs)

    return call


_WITH_OUT = ("linalg", "special", "fft")
"""Namespaces whose functions take ``out=``."""
_OUT = {
    "nn.functional": (
        "avg_pool2d", "avg_pool3d", "gelu", "hardshrink", "linear", "logsigmoid", "softplus", "softshrink",
    )
}  # fmt: skip
"""Single ones of other namespaces."""


def _of_two(op: Op) -> Callable[[Any, Any], Any]:
    def call(input: Any, other: Any) -> Any:
        return op(input, other)

    return call


def _reshaping(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return reshape_inplace(self, function, args, kwargs)
        except FAILED as error:
            raise misused(f"Tensor.{name}", function, (self, *args), kwargs, error) from error.__cause__

    return call


def _several(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns several views of a tensor."""

    @functools.wraps(function)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        parts = function(input, *args, **kwargs)
        sizes = name == "Split" and args and not isinstance(args[0], int)
        node = "SplitWithSizes" if sizes else name
        return one_of_several(parts, node) if isinstance(input, Recorded) else parts

    return call


def _joining(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are the outputs of one node in torch."""
    if name not in _TOGETHER:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return join(made) if isinstance(made, tuple) else made

    return call


def _copying(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function made of views whose result is none."""

    @functools.wraps(function)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        made = function(input, *args, **kwargs)
        for out in made if isinstance(made, tuple) else (made,):
            if isinstance(out, Recorded) and out is not input:
                of_its_own(out)
        return made

    return call


def _conjugating(function: Callable[..., Any]) -> Callable[..., Any]:
    """The conjugate, which is a view where it differs."""

    @functools.wraps(function)
    def call(x: Any) -> Any:
        made = function(x)
        if isinstance(x, Recorded) and made is not x and isinstance(made, Recorded):
            conjugate_view(x, made)
        return made

    return call


_OPERATORS = ("add", "sub", "subtract", "rsub", "div", "divide", "fmod", "remainder", "copysign")
"""Functions that torch records of inference tensors that claim to require grad where they meet numbers, which are
tensors to them; ``alpha`` is none."""

_COPIED_FIRST = ("sort",)
"""Functions that torch records of such tensors alone, too: it copies them first."""


def _another(name: str, made: Any) -> Any:
    """Where there is nothing to do, torch's answer is another tensor all the same: a view, or a copy.

    An inference tensor that claims to require grad does so for ``clone`` alone.
    """
    if name in ("t", "t_"):
        return getitem(made, Ellipsis)
    return lookup("clone")(lookup("detach")(made) if MODE.inferred and inferred(made) else made)


def _numbered(args: tuple[Any, ...]) -> bool:
    """Whether there are Python numbers among the arguments."""
    return any(a.__class__ in NUMBERS for a in args)


def _labelling(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function made of several ops, whose results say what torch calls the whole."""
    label = LABELS.get(name)
    if label is None:
        return function
    positions, operators, order = KEPT.get(name, ()), name in _OPERATORS, names_in_order(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = by_place(order, args, kwargs)
        if MODE.inferred and name not in _COPIED_FIRST and not (operators and _numbered(args[:2])):
            made = record.unclaimed(function, args, kwargs)
        else:
            made = function(*args, **kwargs)
        unchanged = args and made is args[0] and isinstance(made, Recorded) and not kwargs.get("inplace")
        if unchanged and (isinstance(label, str) or label(made, *args, **kwargs) is not None):
            made = _another(name, made)
        for out in made if isinstance(made, tuple) else (made,):
            if isinstance(out, Recorded) and out._requires_grad and out._node.__class__ is Node:
                whole = out._node.op.name == name and out._node.op.kind == "elementwise"
                inputs = _inputs(args, kwargs, every=whole or name in COMPUTING)
                if name in SCALING and name != "lerp" and args[1].__class__ in NUMBERS:
                    inputs = (*inputs, None)
                if out._node not in inputs:
                    text = label if isinstance(label, str) else label(out, *args, **kwargs)
                    if text is not None:
                        places = positions(*args, **kwargs) if callable(positions) else positions
                        needed = tuple(_needed(k, args, out) for k in places if k is None or k < len(args))
                        places_in_order = _arranged(text, out._node, inputs) if isinstance(text, Arranged) else inputs
                        Labelled.on(out._node, text, places_in_order, needed)
                        out._node.args.given = (function, *_settings(args, kwargs))  # type: ignore[attr-defined]
                        if name in ANEW:
                            out._node.args.again = read_again(args, kwargs)  # type: ignore[attr-defined]
                        if name in SCALING:
                            _scaled_by_numbers(out._node, inputs)
        return made

    return call


_SETTINGS = frozenset((int, float, complex, bool, str, type(None)))


def _settings(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function was given besides tensors, which stand as ``...``."""
    named = {key: _setting(a) for key, a in kwargs.items()} if kwargs else kwargs
    return tuple([a if a.__class__ in _SETTINGS else _setting(a) for a in args]), named


def _setting(given: Any) -> Any:
    if given.__class__ in _SETTINGS:
        return given
    return given if given.__class__ in (tuple, list) and all(a.__class__ in _SETTINGS for a in given) else ...


def _arranged(label: Arranged, whole: Node, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of a whole as its label orders them, with the steps inside of it that have nodes of their own."""
    row = list(inputs)
    for k, (path, name) in label.steps.items():
        step: Any = whole
        for i in path:
            step = step.args[i] if step.__class__ is Node and i < len(step.args) else None
        if step.__class__ is Node and k < len(row) and row[k] is not None:
            Labelled.on(step, name)
            row[k] = step
    return tuple(row[k] for k in label.order if k < len(row))  # truth values and integers are no inputs of a node


def _rewriting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch lets change its own result in place, which is seen of inference tensors."""
    entry = OF_FUNCTIONS.get(name)
    if entry is None:
        return function
    order = names_in_order(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        if MODE.inferred:
            args = by_place(order, args, kwargs)
            flat = args[1] if name == "einsum" and len(args) > 1 and isinstance(args[1], (list, tuple)) else None
            given = args if flat is None else (args[0], *flat)
            record.count_rewrites(name, entry, made if isinstance(made, tuple) else (made,), given, kwargs)
            if name in FILLING and len(args) + len(kwargs) > 1:
                made = record.filled(made, args[0])
        return made

    return call


def _needed(k: int | None, args: tuple[Any, ...], out: Any) -> Callable[[], Any]:
    """What a function keeps whole: an argument, its result, or something of its own."""
    if k is None:
        return lambda: None
    tensor = args[k] if k >= 0 else args[0] if k == -2 else out
    if MODE.inferred and inferred(tensor) and tensor.dtype.kind in "fc":
        raise AutogradError(record.INFERENCE_SAVED)
    value = getattr(tensor, "_value", None)
    itself = k >= 0 and (not isinstance(value, np.ndarray) or storage(value) is value)
    return kept(tensor) if itself else Memory(kept(tensor))


def _scaled_by_numbers(whole: Node, inputs: tuple[Any, ...]) -> None:
    """Say of the products with numbers inside of a function that a second pass has what it needs."""
    stack: list[Any] = [whole]
    while stack:
        node = stack.pop()
        if node.__class__ is Node and not any(node is place for place in inputs):
            if node.op.name in ("mul", "addcmul", "lerp") and not all(hasattr(arg, "raw_shape") for arg in node.args):
                Labelled.cast(node, "scaling")
            stack.extend(node.args)


def _inputs(args: tuple[Any, ...], kwargs: dict[str, Any], every: bool) -> tuple[Any, ...]:
    """Where the tensors of a call come from that may have a gradient: a node, a leaf, or None for a constant.

    Those that are no floats are places, unless the function is elementwise and computes with ``every`` one.
    """
    found: list[Any] = []
    for given in (*args, *kwargs.values()) if kwargs else args:
        for x in given if given.__class__ is tuple or given.__class__ is list else (given,):
            if isinstance(x, Recorded) and (every or x._value.dtype.kind in "fc" or is_floating(x._value.dtype)):
                found.append((x if x._node is None else x._node) if x._requires_grad else None)  # noqa: PERF401
    return tuple(found)


def _has_copied(made: Any, given: Any) -> bool:
    """Whether a result has memory of its own; the memory of inference tensors knows what they are views of."""
    return isinstance(made, np.ndarray) and made.size > 0 and storage(made) is not storage(given)


_SIZED = {"reshape": "shape", "view": "size", "expand": "size", "broadcast_to": "size", "permute": "dims",
          "repeat": "repeats", "tile": "dims", "flip": "dims"}  # fmt: skip
"""Functions of several sizes or axes, and what these are called together."""


def _sized(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of several sizes: one by one, as one sequence, or by name, but not left out."""
    word = _SIZED.get(name.removesuffix("_copy"))
    if word is None:
        return function

    @functools.wraps(function)
    def call(input: Any, *sizes: Any, **named: Any) -> Any:
        if word in named:
            sizes = (*sizes, named.pop(word))
        if not sizes and not named:
            raise TypeError(f'{name}() missing 1 required positional arguments: "{word}"')
        if sizes and isinstance(sizes[0], str) and isinstance(input, Recorded):
            raise TypeError(f"{name}(): argument '{word}' must be tuple of ints, but found {sizes[0]!r} at pos 0")
        return function(input, *sizes, **named)

    return call


def _viewing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a view or refuses; of a dtype it reads the memory in that."""

    @functools.wraps(function)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = args[0] if len(args) == 1 else kwargs.get("dtype")
        if isinstance(dtype, np.dtype):
            return read_as(input, dtype)
        made = function(input, *args, **kwargs)
        if isinstance(made, Recorded) and _has_copied(made._value, input._array()):
            raise ShapeError(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
                f"two contiguous subspaces). Use .reshape(...) instead. (shape {input.raw_shape}, strides "
                f"{input.stride()})"
            )
        return made

    return call


def _caster(name: str, dtype: str) -> Callable[..., Any]:
    def call(self: Any, *, memory_format: Any = None) -> Any:  # noqa: ARG001  (torch's signature)
        return self.to(dtype)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The tensor in {dtype}."
    return call


def bind(cls: Any) -> dict[str, Callable[..., Any]]:
    """Let ``cls`` flow through every op and give it the table's methods and operators; returns the public functions."""
    register_carrier(cls, 2, fast.ways_through(cls))
    functions: dict[str, Callable[..., Any]] = {}
    made: dict[str, Callable[..., Any]] = {}
    for name, entry in FRONTS.items():
        call = entry.call
        if isinstance(call, Op):
            call = made.setdefault(call.name, _fast(cls, call))
        if name == "conj":
            call = _conjugating(call)
        if name in _COPYING:
            call = _copying(call)
        elif name in _UNSAFE:
            call = unlinked(call)
        call = _rewriting(name, _labelling(name, call))
        if name in _VIEWING:
            call = _viewing(call)
        call = _sized(name, call)
        if name in _SEVERAL:
            call = _several(_SEVERAL[name], call)
        call = _joining(name, call)
        if entry.function:
            functions[name] = with_out(name, of_numbers(call) if name in OF_NUMBERS else call, entry.words)
        if entry.method and name not in cls.__dict__:
            call = with_words(call, entry.words) if entry.words else call
            setattr(cls, name, call if isinstance(entry.call, Op) else method(name, call))
    _bind_operators(cls)
    _bind_inplace(cls)
    written = [f"{name}_" for name in (*_INPLACE, *INPLACE)]
    in_place = [f"{name}_" for name in (*_WRITING, "gcd", "lcm", "resize_as")]
    functions.update({name: explained(name, getattr(cls, name), {}) for name in in_place})
    for name, dtype in _CASTS.items():
        setattr(cls, name, method(name, _caster(name, dtype)))
    _bind_spaces(cls)
    functions.update({name: SPACES["nn.functional"][name] for name in _PLAIN})
    functions.update({f"{name}_": writing(functions[name]) for name in _ALSO_INPLACE})
    functions.update(plain_losses(SPACES["nn.functional"]))
    _settle("symgrad", functions)
    for space, members in SPACES.items():
        _settle(f"symgrad.{space}", members)
    for name in (*(name for name, entry in FRONTS.items() if entry.method), *written):
        illustrate(f"Tensor.{name}", vars(cls)[name])
    return functions


def _bind_inplace(cls: Any) -> None:
    """The methods that change their tensor."""
    for name in (*_INPLACE, *INPLACE):
        own = f"{name}_" if f"{name}_" in LABELS else name
        call = FRONTS[name].call
        if isinstance(call, Op) and not FRONTS[name].words:
            call = of_operands(name, call)
        if words := FRONTS[name].words:
            call = with_words(_of_two(call) if isinstance(call, Op) else call, words)
        call = (_reshaping if name in _RESHAPE else _inplace)(_labelling(own, call), f"{name}_")
        if name in ("abs", "absolute"):
            call = _real_inplace("abs", call)
        call.__name__ = call.__qualname__ = f"{name}_"
        call.__doc__ = f"``{name}`` in place: the tensor is changed and returned."
        setattr(cls, f"{name}_", call)


def _bind_spaces(cls: type) -> None:
    """Torch's names and errors for the functions of the other namespaces."""
    for space, members in SPACES.items():
        whole = {
            name: folding(f"{space}.{name}", _fast(cls, call) if isinstance(call, Op) else call)
            for name, call in members.items()
        }
        names = {name: f"{space}.{name}" for name in whole}
        words = {name: WORDS.get(names[name], {}) for name in names}
        members.update({name: _rewriting(names[name], _labelling(names[name], whole[name])) for name in names})
        members.update({name: _joining(names[name], members[name]) for name in names})
        if space == "nn.functional":
            members.update({name: by_name(members[name]) for name in names})
        if space in _WITH_OUT:
            members.update({n: with_out(f"{space}_{n}", call, words[n]) for n, call in members.items()})
        else:
            plain = {name: explained(f"{space}_{name}", call, words[name]) for name, call in members.items()}
            members.update(plain | {name: with_out(f"{space}_{name}", members[name]) for name in _OUT.get(space, ())})


def _settle(module: str, functions: dict[str, Callable[..., Any]]) -> None:
    """Let public functions say where they are found, so that they can be pickled; one with two names has the first."""
    for name, function in functions.items():
        if function.__module__.startswith(("symgrad.ops", "symgrad.tape", "symgrad.tensor")):
            function.__module__ = module
            function.__name__ = function.__qualname__ = name
            illustrate(f"{module}.{name}", function)


def _bind_operators(cls: Any) -> None:
    for name, op_name in ARITHMETIC.items():
        function = FRONTS["matmul"].call if name == "matmul" else _fast(cls, lookup(op_name))
        # The four commonest operators do without the check of their operand; the op itself rejects strangers.
        common = name in ("add", "sub", "mul", "truediv")
        forward = (
            fast.binary(cls, lookup(op_name), fast.or_theirs(lookup(op_name))) if common else _forward(cls, function)
        )
        setattr(cls, f"__{name}__", forward)
        setattr(cls, f"__r{name}__", _reflected(over_tensor if name == "truediv" else function))
        if name != "matmul":
            setattr(cls, f"__i{name}__", _assigning(function))
    for name in COMPARISONS:
        setattr(cls, f"__{name}__", _forward(cls, _fast(cls, lookup(name))))
    for name, public in _BITS.items():
        function = _rewriting(public, FRONTS[public].call)
        setattr(cls, f"__{name}__", _forward(cls, function))
        setattr(cls, f"__r{name}__", _reflected(function))
        setattr(cls, f"__i{name}__", _assigning(function))
    cls.__neg__ = cls.neg
    cls.__abs__ = cls.abs
    cls.__invert__ = inverted
    cls.__pos__ = lambda self: self
    cls.__hash__ = object.__hash__
