"""Methods and functions from the op table, bound to the tensor class: the one place that sets attributes in a loop."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtype_objects import KINDS
from symgrad.dtypes import as_dtype
from symgrad.errors import DtypeError, ShapeError
from symgrad.op import FRONTS, Op, known_as, lookup, register_carrier, shape_of
from symgrad.op.fronts import of_operands, with_words
from symgrad.op.operators import ARITHMETIC, COMPARISONS
from symgrad.ops.calls.naming import CHANGES, INPLACE, SPACES, WORDS, by_name
from symgrad.ops.torch_nodes.labels import LABELS
from symgrad.tape import fast
from symgrad.tape.backward.siblings import join
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.dual import Dual, TensorType
from symgrad.tape.memory.alone import PLAIN, swift, written
from symgrad.tape.memory.inplace import inplace, reshape_inplace
from symgrad.tape.memory.versions import storage
from symgrad.tape.memory.views import conjugate_view, of_its_own, one_of_several, show_memory
from symgrad.tape.misuse import FAILED, misused
from symgrad.tape.overriding import dispatched, unasked
from symgrad.tape.record import Recorded
from symgrad.tape.signatures import otherwise
from symgrad.tensor.calls import comparing, explained, method, of_two, with_out
from symgrad.tensor.docstrings import illustrate
from symgrad.tensor.labelling import labelling, rewriting
from symgrad.tensor.operators import bind_operators, fast_call
from symgrad.tensor.plain import OF_NUMBERS, of_numbers, plain_losses, writing
from symgrad.tensor.turned import read_as, unlinked

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
            "kron", "roll", "cholesky", "lu_solve", "orgqr", "stft", "svd", "fft.rfft", "linalg.cholesky",
            "linalg.cholesky_ex", "linalg.householder_product", "linalg.lu_solve", "linalg.solve", "linalg.solve_ex",
            "linalg.solve_triangular", "linalg.svd", "gradient", "nn.functional.group_norm", "nn.functional.max_pool1d",
            "nn.functional.channel_shuffle", *(f"nn.functional.{kind}_pool{rank}d"
            for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for rank in (2, 3)))  # fmt: skip
"""Functions made of views whose result has memory of its own in torch."""
_ALSO_INPLACE = ("alpha_dropout", "celu", "feature_alpha_dropout", "rrelu", "selu", "threshold")
_PLAIN = (
    "alpha_dropout", "bilinear", "celu", "cosine_similarity", "feature_alpha_dropout", "group_norm", "layer_norm",
    "pairwise_distance", "pdist", "rms_norm", "rrelu", "selu", "threshold",
)  # fmt: skip
"""Functions of ``nn.functional`` that stand in the plain namespace, too."""
_CASTS = {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "bool": "bool", "byte": "uint8", "char": "int8", "cdouble": "complex128",
    "cfloat": "complex64",
}  # fmt: skip


def _inplace(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs and "other" in kwargs and not args:  # as torch calls it, whatever the op's own call does
            args = (kwargs.pop("other"),)
        try:
            if self.__class__ in PLAIN:
                return inplace(self, function, args, kwargs, table=True)
            return self._inplace(function, *args, **kwargs)  # the function of the same name takes duals, too
        except FAILED as error:
            if found := unasked((self, *args), kwargs):
                return dispatched(getattr(TensorType.tensor, name), found, (self, *args), kwargs)
            if (then := otherwise(f"Tensor.{name}", function, args, kwargs)) is not None:
                return call(self, *then[0], **then[1])
            raise misused(f"Tensor.{name}", function, (self, *args), kwargs, error) from error.__cause__

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
        "avg_pool2d", "avg_pool3d", "gelu", "hardshrink", "linear", "logsigmoid", "normalize", "softplus", "softshrink",
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


def _copying(function: Callable[..., Any], order: Any = "C") -> Callable[..., Any]:
    """A function made of views whose result is none; ``order`` "K" where it lies in memory as the view does."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        for out in made if isinstance(made, tuple) else (made,):
            if isinstance(out, Recorded) and not (args and out is args[0]):
                of_its_own(out, order)
        return made

    return call


def _conjugating(function: Callable[..., Any]) -> Callable[..., Any]:
    """The conjugate, which is a view where it differs."""

    @functools.wraps(function)
    def call(x: Any) -> Any:
        if isinstance(x, Dual):
            return x.conj()
        made = function(x)
        if isinstance(x, Recorded) and made is not x and isinstance(made, Recorded):
            conjugate_view(x, made)
        return made

    return call


def _adjoining(function: Callable[..., Any]) -> Callable[..., Any]:
    """The conjugate transpose, which is a view as ``mH`` is."""

    @functools.wraps(function)
    def call(input: Any) -> Any:
        ndim = len(shape_of(input)) if isinstance(input, (Recorded, Dual)) else 1
        return input.mH if ndim > 1 else function(input) if ndim else input.conj()

    return call


def _copying_as(function: Callable[..., Any]) -> Callable[..., Any]:
    """``clone``, also with the order in memory that the method takes."""

    @functools.wraps(function)
    def call(input: Any, *, memory_format: Any = None) -> Any:
        return function(input) if memory_format is None else input.clone(memory_format=memory_format)

    return call


def _striding(function: Callable[..., Any]) -> Callable[..., Any]:
    """``as_strided``, which is a view of the base where the entries of its operand have gaps."""

    @functools.wraps(function)
    def call(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
        made = function(input, size, stride, storage_offset)
        recorded: bool = isinstance(input, Recorded) and isinstance(made, Recorded)
        if recorded:
            start = input.storage_offset() if storage_offset is None else storage_offset
            rest = np.asarray(input.storage()).view(made._value.dtype)[start:]
            memory = np.lib.stride_tricks.as_strided(rest, size, [n * rest.itemsize for n in stride])
            kind = made._value.dtype.kind
            show_memory(input, made, lambda base: function(_seen_as(kind, base), size, stride, start), memory)
        return made

    return call


def _seen_as(kind: str, base: Any) -> Any:
    """A tensor, with its complex numbers as pairs or its pairs as complex numbers where a view of it has them so."""
    if base._value.dtype.kind == kind:
        return base
    return lookup("view_as_real")(base) if kind == "f" else lookup("view_as_complex")(base.view(-1, 2))


_SHARING = {"conj": _conjugating, "adjoint": _adjoining, "as_strided": _striding, "clone": _copying_as}
"""Functions whose results lie in memory as their ops do not say: views where these give copies, other orders."""


def _has_copied(made: Any, given: Any) -> bool:
    """Whether a result has memory of its own; the memory of inference tensors knows what they are views of."""
    if not isinstance(made, np.ndarray) or (base := made.base) is given or (base is not None and base is given.base):
        return False
    return made.size > 0 and storage(made) is not storage(given)


_SIZED = {"reshape": "shape", "view": "size", "expand": "size", "broadcast_to": "size", "permute": "dims",
          "repeat": "repeats", "tile": "dims", "flip": "dims", "sum_to_size": "size"}  # fmt: skip
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
        if isinstance(dtype, KINDS):
            return read_as(input, as_dtype(dtype))
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
    kind = as_dtype(dtype) if dtype != "bfloat16" else dtype  # which is loaded when it is used

    def call(self: Any, *, memory_format: Any = None) -> Any:
        return self.to(kind, memory_format=memory_format)

    return known_as(call, name, f"The tensor in {dtype}.")


def bind(cls: Any) -> dict[str, Callable[..., Any]]:
    """Let ``cls`` flow through every op and give it the table's methods and operators; returns the public functions."""
    register_carrier(cls, 2, fast.ways_through(cls))
    functions: dict[str, Callable[..., Any]] = {}
    made: dict[str, Callable[..., Any]] = {}
    for name, entry in FRONTS.items():
        call = entry.call
        if isinstance(call, Op):
            call = made.setdefault(call.name, fast_call(cls, call))
        if name in _SHARING:
            call = _SHARING[name](call)
        if name in _COPYING:
            call = _copying(call, "K" if name == "stft" else "C")
        elif name in _UNSAFE:
            call = unlinked(call)
        call = rewriting(name, labelling(name, call))
        if name in _VIEWING:
            call = _viewing(call)
        call = _sized(name, call)
        if name in _SEVERAL:
            call = _several(_SEVERAL[name], call)
        call = _joining(name, call)
        if entry.function:
            functions[name] = with_out(name, of_numbers(call) if name in OF_NUMBERS else call, entry.words)
        if entry.method and name not in cls.__dict__:
            setattr(cls, name, _method(name, call, entry.call, entry.words))
    bind_operators(cls)
    _bind_inplace(cls)
    in_place = [f"{name}_" for name in (*_WRITING, "gcd", "lcm", "resize_as")]
    functions.update({name: explained(name, _of_carriers(cls, name), {}) for name in in_place})
    for name, dtype in _CASTS.items():
        setattr(cls, name, method(name, _caster(name, dtype)))
    spaced = SPACES["nn.functional"]
    functions.update({name: explained(name, labelling(name, _elsewhere(spaced[name])), {}) for name in _PLAIN})
    _bind_spaces(cls)
    functions.update({f"{name}_": writing(spaced[name]) for name in _ALSO_INPLACE})
    functions.update(plain_losses(spaced))
    _settle("symgrad", functions)
    for space, members in SPACES.items():
        _settle(f"symgrad.{space}", members)
    for name in dir(cls):
        member = getattr(cls, name)
        own = getattr(member, "__name__", name)  # of several names, the one that it is called by itself
        illustrate(f"Tensor.{own if getattr(cls, own, None) is member else name}", member)
    return functions


def _method(name: str, call: Callable[..., Any], op: Any, words: dict[str, str]) -> Callable[..., Any]:
    """A method, which takes arguments by torch's other ``words``; an op stays as it is, or asks its other operand."""
    if not isinstance(op, Op):
        return method(name, with_words(call, words) if words else call)
    if not callable(op.vjps) and len(op.vjps) == 2:
        return of_two(name, call, words)
    return with_words(call, words) if words else call


def _of_carriers(cls: Any, name: str) -> Callable[..., Any]:
    """A method of tensors as a function; a dual has its own."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(*args, **kwargs) if isinstance(self, Carried) else method(self, *args, **kwargs)

    return call


def _elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as it is where it has no ``inplace``."""
    plain: Callable[..., Any] = inspect.unwrap(
        function, stop=lambda call: "inplace" not in inspect.signature(call).parameters
    )
    return plain


def _bind_inplace(cls: Any) -> None:
    """The methods that change their tensor."""
    PLAIN.add(cls)
    for name in (*_INPLACE, *INPLACE):
        own = f"{name}_" if f"{name}_" in LABELS else name
        call, op = FRONTS[name].call, FRONTS[name].op
        if isinstance(call, Op) and not FRONTS[name].words:
            call = of_operands(name, call)
        if name in _SHARING:
            call = _SHARING[name](call)
        elif op is not None and op.name in COMPARISONS:
            call = comparing(call)
        if words := FRONTS[name].words:
            call = with_words(_of_two(call) if isinstance(call, Op) else call, words)
        if op is not None and (FRONTS[name].call is op or name in ARITHMETIC.values()):
            call.written = written(op)  # type: ignore[attr-defined]
        into = getattr(call, "written", None)
        call = (_reshaping if name in _RESHAPE else _inplace)(labelling(own, call), f"{name}_")
        if into is not None:
            call = swift(into, call)
        if name in ("abs", "absolute"):
            call = _real_inplace("abs", call)
        known_as(call, f"{name}_", f"``{name}`` in place: the tensor is changed and returned.")
        call.__wrapped__ = getattr(cls, name)  # type: ignore[attr-defined]  # whose signature it has
        setattr(cls, f"{name}_", call)


def _bind_spaces(cls: type) -> None:
    """Torch's names and errors for the functions of the other namespaces."""
    CHANGES.update({name: labelling(name, call) for name, call in CHANGES.items()})
    for space, members in SPACES.items():
        whole = {name: fast_call(cls, call) if isinstance(call, Op) else call for name, call in members.items()}
        names = {name: f"{space}.{name}" for name in whole}
        whole |= {name: _copying(whole[name]) for name in names if names[name] in _COPYING}
        words = {name: WORDS.get(names[name], {}) for name in names}
        members.update({name: rewriting(names[name], labelling(names[name], whole[name])) for name in names})
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
