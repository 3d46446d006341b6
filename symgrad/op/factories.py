"""The three factories of entries: elementwise, multilinear and primitive ops; and what families of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ShapeError
from symgrad.op.fronts import publish
from symgrad.op.partials import absent, rules_of, times, times_conj
from symgrad.op.record import Op, Rule, Spec, register

MATRICES = ("matrix", "square", "invertible", "distinct", "symmetric", "positive-definite", "tall")
"""Domains of matrices, of which an array holds a stack."""


def elementwise(name: str, kernel: Rule, *partials: Any, public: Sequence[str] | bool = True, **fields: Any) -> Op:
    """An op that acts entry by entry, with broadcasting.

    ``partials`` give the derivative by each input as a function of ``(out, *inputs)`` written in ops; ``1`` and ``-1``
    mean "passes through", None "no derivative", ``over`` (of ``op.partials``) a derivative by which one divides.  vjp,
    jvp and the conjugation that complex gradients need follow.
    """
    fields = {"infer": broadcast_shapes, "domain": "real", **fields}
    op = Op(name, "elementwise", kernel, rules_of(partials, times), partials=partials, entrywise=True, **fields)
    op.conj_vjps = rules_of(partials, times_conj)
    if op.underived:
        op.vjps = op.conj_vjps = (absent(name, op.underived),) * len(partials)
    op.jvps = op.vjps
    register(op)
    if public:
        publish(op, *(() if public is True else public))
    return op


def of_reals(name: str, kernel: Rule, *partials: Any, **fields: Any) -> Op:
    """An elementwise op of real floats, which the rooms of its field publish where anybody does.

    Formulas hold the op; where they are read, they show its definition if it has one.
    """
    return elementwise(name, kernel, *partials, **{"public": (), **_of_reals(fields)})


def multilinear(name: str, kernel: Rule, einsum: Callable[..., Spec], **fields: Any) -> Op:
    """An add-free product, sum, transpose, diagonal or broadcast, declared by its einsum; vjp and jvp follow.

    ``einsum(*shapes, **params)`` gives the index labels of every input and of the output.  A label that stands twice
    in the output means a delta, one that stands in no input means a broadcast.
    """
    from symgrad.ops.linalg.contraction import multilinear_jvp, multilinear_vjp

    variadic = fields.pop("variadic", False)
    fields.setdefault("domain", "real")
    op = Op(name, "multilinear", kernel, (), einsum=einsum, **fields)
    op.vjps = multilinear_vjp(op)
    op.jvps = multilinear_jvp(op)
    op.conj_vjps = op.vjps
    op.variadic = variadic
    return register(op)


def primitive(name: str, kernel: Rule, vjp: Sequence[Rule | None] | Rule, **fields: Any) -> Op:
    """Any other op: its vjp is one rule per input, or one function ``(i, g, out, *inputs)`` for variadic ops.

    Without ``jvp`` a ``linear`` op moves its tangent itself; of others, forward mode transposes the vjp, which is
    linear in the cotangent.  The result has the first operand's shape unless ``infer`` says otherwise; what has
    matrices for its ``domain`` mixes the entries of each, in floats, and what mixes entries acts on stacks.
    """
    jvp = fields.pop("jvp", None)
    fields = {"infer": _shape_of_first, "domain": "real", **fields}
    if fields["domain"] in MATRICES:
        fields = {"dtypes": "float", "mixes": 2, "work": "unknown", **fields}
    if "mixes" in fields:
        fields = {"stacks": True, **fields}
    op = Op(name, "primitive", kernel, vjp, **fields)
    op.jvps = jvp or ((_moved_by(op),) + (None,) * (len(op.vjps) - 1) if op.linear else None)
    return register(op)


def family(name: str, kernel: Rule, slope: Rule, by_result: bool = False, **fields: Any) -> Op:
    """A primitive that acts entry by entry on one array, with parameters (the order of a Bessel function).

    ``slope`` gives its derivative as a function of ``(x, **params)`` in ops; ``by_result``, of ``(out, x, **params)``.
    Otherwise it is as :func:`of_reals`.
    """

    def of_argument(g: Any, out: Any, x: Any, **params: Any) -> Any:  # noqa: ARG001
        return g * slope(x, **params)

    def of_result(g: Any, out: Any, x: Any, **params: Any) -> Any:
        return g * slope(out, x, **params)

    rule = of_result if by_result else of_argument
    return primitive(name, kernel, (rule,), jvp=(rule,), entrywise=True, **_of_reals(fields))


def _of_reals(fields: dict[str, Any]) -> dict[str, Any]:
    return {"dtypes": "float", "refuses": "c", "expanded": fields.get("define") is not None, **fields}


def _shape_of_first(shape: Sequence[Any], *_others: Any, **_params: Any) -> Sequence[Any]:
    return shape


def _moved_by(op: Op) -> Rule:
    """The forward rule of an op that is linear in its first operand."""

    def push(t: Any, _out: Any, _x: Any, *others: Any, **params: Any) -> Any:
        return op(t, *others, **params)

    return push


def stretches(shape: Sequence[Any], target: Sequence[Any]) -> bool:
    """Whether an array of one shape can be broadcast to another.

    >>> stretches((1, 3), (2, 5, 3)), stretches((2,), (3,))
    (True, False)
    """
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape[::-1], target[::-1], strict=False))


def broadcast_shapes(*shapes: tuple[Any, ...], **_: Any) -> tuple[Any, ...]:
    """NumPy's broadcasting, on ints and size letters alike.

    >>> broadcast_shapes(("n", "m"), ("m",), ())
    ('n', 'm')
    """
    whole: tuple[Any, ...] = ()
    for shape in shapes:
        if shape and shape != whole:
            if whole:
                break
            whole = shape
    else:  # one shape, and scalars
        return tuple(whole)
    rank = max(map(len, shapes))
    out: list[Any] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if out[axis] != 1 and out[axis] != size:
                    listed = ", ".join(str(tuple(s)).replace("'", "") for s in shapes)
                    raise ShapeError(
                        f"The size of tensor a ({out[axis]}) must match the size of tensor b ({size}) at non-singleton "
                        f"dimension {axis}: the shapes {listed} cannot be broadcast together (axis {axis - rank})."
                    )
                out[axis] = size
    return tuple(out)
