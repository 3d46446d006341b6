"""Linear maps with the face of SciPy's ``LinearOperator``: what they do to vectors, and no matrix.

``scipy.sparse.linalg`` takes them as they are, by their ``shape``, ``dtype``, ``matvec`` and ``rmatvec``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.trace import argument_names
from symgrad.errors import ArgumentError, AutogradError, ShapeError, SymgradError
from symgrad.formula.derive import jacobian as derived, wirtinger
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.term import SYMBOL, postorder
from symgrad.func.bound import Bound, as_tensor, check_function, deriving, for_arrays, results, run
from symgrad.func.forward import linearize
from symgrad.func.transforms import grad, jacfwd, jacrev, vjp
from symgrad.op import is_complex
from symgrad.ops.rules.kinks import steepest
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.modes import no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.following import is_followed, numbers_of
from symgrad.tensor import Tensor

Product = Callable[[Any], Any]
_NUMBERS = (int, float, complex, np.number)


class LinearOperator:
    """A matrix that is known by its products, of ``shape`` (rows, columns).

    ``matvec(v)`` and ``matmat(V)`` multiply by a vector of shape (columns,) or (columns, 1) and by a matrix of shape
    (columns, k); ``rmatvec`` and ``rmatmat`` by the conjugate transpose; ``A @ v`` does either, or composes two
    operators.  ``A.T``, ``A.H``, sums, differences and multiples are operators again; ``toarray()`` is the matrix.
    Arrays give arrays, and tensors give tensors without a history: one that requires grad is refused.  Raises
    ``ShapeError`` where shapes do not fit.

    >>> import symgrad as sg
    >>> import numpy as np
    >>> A = sg.func.LinearOperator((2, 2), float, lambda v: 2 * v, lambda v: 2 * v, name="A")
    >>> A, A @ np.ones(2), (3 * A.T + A).toarray()
    (<2x2 LinearOperator of float64: A>, array([2., 2.]), array([[8., 0.],
           [0., 8.]]))
    """

    __array_ufunc__ = None  # an array on the left leaves the product to the operator

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: Any,
        matvec: Product,
        rmatvec: Product,
        *,
        matmat: Product | None = None,
        rmatmat: Product | None = None,
        name: str | Callable[[], str] = "",
    ):
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.ndim = 2
        self._vectors = matvec, rmatvec
        self._matrices = matmat, rmatmat
        self._name = name

    @property
    def name(self) -> str:
        """What it is called, or its formula."""
        return self._name if isinstance(self._name, str) else self._name()

    def __repr__(self) -> str:
        name = self.name
        return f"<{self.shape[0]}x{self.shape[1]} {type(self).__name__} of {self.dtype}{': ' if name else ''}{name}>"

    # ------------------------------------------------------------------------------------------ products

    def matvec(self, v: Any) -> Any:
        """The product with a vector."""
        return self._vector(v, 0)

    def rmatvec(self, v: Any) -> Any:
        """The product of the conjugate transpose with a vector."""
        return self._vector(v, 1)

    def matmat(self, V: Any) -> Any:
        """The product with a matrix."""
        return self._matrix(V, 0)

    def rmatmat(self, V: Any) -> Any:
        """The product of the conjugate transpose with a matrix."""
        return self._matrix(V, 1)

    def _vector(self, v: Any, side: int) -> Any:
        value = numbers_of(v, "an operator")
        count = self.shape[1 - side]
        if value.shape not in ((count,), (count, 1)):
            raise ShapeError(
                f"the product of {self!r} {'(conjugate transpose) ' * side}takes a vector of shape ({count},) or "
                f"({count}, 1); it got shape {value.shape}."
            )
        found = np.asarray(self._vectors[side](value.reshape(-1))).reshape((-1, *value.shape[1:]))
        return plain(Tensor, found) if isinstance(v, Recorded) else found

    def _matrix(self, V: Any, side: int) -> Any:
        value = numbers_of(V, "an operator")
        count = self.shape[1 - side]
        if value.ndim != 2 or len(value) != count:
            raise ShapeError(
                f"the product of {self!r} {'(conjugate transpose) ' * side}takes a matrix of {count} rows; it got "
                f"shape {value.shape}."
            )
        together = self._matrices[side]
        if together is not None and value.shape[1]:
            found = np.asarray(together(value))
        else:
            dtype = np.result_type(self.dtype, value.dtype)
            found = np.empty((self.shape[side], value.shape[1]), dtype)
            for k in range(value.shape[1]):
                found[:, k] = self._vectors[side](value[:, k])
        return plain(Tensor, found) if isinstance(V, Recorded) else found

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, LinearOperator):
            return self._composed(other)
        return self.matmat(other) if np.ndim(numbers_of(other, "an operator")) == 2 else self.matvec(other)

    def __rmatmul__(self, other: Any) -> Any:
        value = numbers_of(other, "an operator")
        found = (self.T @ value.T).T
        return plain(Tensor, found) if isinstance(other, Recorded) else found

    __call__ = __matmul__
    dot = __matmul__

    def toarray(self) -> Any:
        """The matrix."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))

    # ------------------------------------------------------------------------------------------ other operators

    @property
    def H(self) -> LinearOperator:  # noqa: N802  (SciPy's name)
        """The conjugate transpose."""
        mark = "ᴴ" if self.dtype.kind == "c" else "ᵀ"
        return LinearOperator(
            self.shape[::-1], self.dtype, *self._vectors[::-1], matmat=self._matrices[1], rmatmat=self._matrices[0],
            name=lambda: f"({self.name}){mark}",
        )  # fmt: skip

    @property
    def T(self) -> LinearOperator:  # noqa: N802  (SciPy's name)
        """The transpose."""
        if self.dtype.kind != "c":
            return self.H
        other = self.H
        return _by_both(
            self.shape[::-1], self.dtype, lambda v: np.conj(other @ np.conj(v)), lambda v: np.conj(self @ np.conj(v)),
            lambda: f"({self.name})ᵀ",
        )  # fmt: skip

    def adjoint(self) -> LinearOperator:
        """The conjugate transpose."""
        return self.H

    def transpose(self) -> LinearOperator:
        """The transpose."""
        return self.T

    def _composed(self, other: LinearOperator) -> LinearOperator:
        if self.shape[1] != other.shape[0]:
            raise ShapeError(
                f"{self!r} and {other!r} cannot be multiplied: {self.shape[1]} columns, {other.shape[0]} rows."
            )
        return _by_both(
            (self.shape[0], other.shape[1]), np.result_type(self.dtype, other.dtype),
            lambda v: self @ (other @ v), lambda v: other.H @ (self.H @ v), lambda: f"({self.name}) ({other.name})",
        )  # fmt: skip

    def __add__(self, other: Any) -> LinearOperator:
        if not isinstance(other, LinearOperator):
            return NotImplemented
        if self.shape != other.shape:
            raise ShapeError(f"{self!r} and {other!r} cannot be added: their shapes differ.")
        return _by_both(
            self.shape, np.result_type(self.dtype, other.dtype),
            lambda v: self @ v + other @ v, lambda v: self.H @ v + other.H @ v, lambda: f"{self.name} + {other.name}",
        )  # fmt: skip

    def __mul__(self, factor: Any) -> LinearOperator:
        if not isinstance(factor, _NUMBERS):
            return NotImplemented
        dtype = np.asarray(factor).dtype if isinstance(factor, (complex, np.complexfloating)) else self.dtype
        return _by_both(
            self.shape, np.result_type(self.dtype, dtype),
            lambda v: factor * (self @ v), lambda v: np.conj(factor) * (self.H @ v), lambda: f"{factor} ({self.name})",
        )  # fmt: skip

    __rmul__ = __mul__

    def __neg__(self) -> LinearOperator:
        return self * -1

    def __sub__(self, other: Any) -> LinearOperator:
        return self + (-other) if isinstance(other, LinearOperator) else NotImplemented


def _by_both(
    shape: tuple[int, int], dtype: Any, forward: Product, back: Product, name: Callable[[], str]
) -> LinearOperator:
    """An operator whose products with vectors and with matrices are the same functions."""
    return LinearOperator(shape, dtype, forward, back, matmat=forward, rmatmat=back, name=name)


# ---------------------------------------------------------------------------------------------- of functions


class _Vector:
    """Nested arrays as one vector, entry by entry, and back."""

    def __init__(self, leaves: Sequence[Any], structure: Any):
        self.structure = structure
        self.shapes = [leaf._value.shape for leaf in leaves]
        self.dtypes = [leaf._value.dtype for leaf in leaves]
        self.ends = np.cumsum([0, *(int(np.prod(s, dtype=int)) for s in self.shapes)]).tolist()
        self.size = self.ends[-1]
        self.dtype = np.result_type(*self.dtypes)

    def joined(self, tree: Any) -> Any:
        """The vector of a tree."""
        return np.concatenate([np.asarray(leaf._value).reshape(-1) for leaf in containers.flatten(tree)[0]])

    def split(self, vector: Any) -> Any:
        """The tree of a vector; real leaves take its real part."""
        parts = []
        for k, (shape, dtype) in enumerate(zip(self.shapes, self.dtypes, strict=True)):
            part = vector[self.ends[k] : self.ends[k + 1]].reshape(shape)
            parts.append(plain(Tensor, (part if dtype.kind == "c" else part.real).astype(dtype)[()]))
        return containers.unflatten(self.structure, iter(parts))


class JacobianOperator(LinearOperator):
    """What :func:`jacobian_operator` gives: a :class:`LinearOperator` that knows its formula."""

    _sign = "∂{f}/∂{x}"

    def __init__(self, func: Callable[..., Any], primals: tuple[Any, ...], inner: Callable[..., Any], symmetric: bool):
        """Of ``inner``, which is ``func`` or its gradient."""
        self._function, self._inner = func, inner
        leaves, structure = containers.flatten(primals)
        values = [_detached(as_tensor(leaf, f"primal {k}")) for k, leaf in enumerate(leaves)]
        self._primals = containers.unflatten(structure, iter(values))
        self._given = _Vector(values, containers.without_settings(structure))
        with deriving():
            out, self._pull = vjp(inner, *self._primals)
        found, nested = results(out, "jacobian_operator(f, *primals)")
        for leaf in found:
            _refuse_followed(leaf, "detach() the tensors that the function takes from outside of its arguments")
        self._found = _Vector(found, nested)
        self._push: Callable[..., Any] | None = None
        forward = self._pushed
        super().__init__(
            (self._found.size, self._given.size),
            np.result_type(self._given.dtype, self._found.dtype),
            forward,
            forward if symmetric else self._pulled,
            matmat=self._columns,
            rmatmat=self._columns if symmetric else self._rows,
            name=self._sign_of,
        )
        if self._given.dtype.kind == "c":
            self._check_holomorphic()

    def _moved(self, v: Any) -> Any:
        if self._push is None:
            with deriving(), no_grad():
                self._push = linearize(self._inner, *self._primals)[1]
        with no_grad():
            return self._found.joined(self._push(*self._given.split(v)))

    def _pushed(self, v: Any) -> Any:
        if v.dtype.kind == "c" and self._given.dtype.kind != "c":
            return self._moved(v.real) + 1j * self._moved(v.imag)
        return self._moved(v)

    def _pulled(self, g: Any) -> Any:
        # By real arguments vjp gives the real part of Jᴴ g, and that of Jᴴ(-i g) is its imaginary part.
        found = self._back(g)
        if self._given.dtype.kind != "c" and (g.dtype.kind == "c" or self._found.dtype.kind == "c"):
            return found + 1j * self._back(-1j * g)
        return found

    def _back(self, g: Any) -> Any:
        with no_grad(), steepest():
            return self._given.joined(self._pull(self._found.split(g)))

    def _check_holomorphic(self) -> None:
        weights = np.cos(1.0 + np.arange(self.shape[1]))
        turned, still = self._moved(1j * weights), 1j * self._moved(weights)
        if any(d.kind != "c" for d in self._given.dtypes) or not np.allclose(turned, still, rtol=1e-4, atol=1e-6):
            raise AutogradError(
                "jacobian_operator: the function is not holomorphic, so that its derivative is no complex matrix; "
                "sg.autograd.wirtinger gives both derivatives by a complex variable, and operators of its real and "
                "imaginary parts are real."
            )

    # ------------------------------------------------------------------------------------------ many vectors

    def _single(self, V: Any) -> bool:
        kinds = {self._given.dtype.kind, self._found.dtype.kind, V.dtype.kind}
        return len(self._given.shapes) == len(self._found.shapes) == 1 and "c" not in kinds

    def _one(self) -> Any:
        return containers.flatten(self._primals)[0][0]

    def _vector_of(self, x: Any) -> Any:
        """The function's result as a vector."""
        made = self._inner(*containers.unflatten(containers.flatten(self._primals)[1], iter([x])))
        return containers.flatten(made)[0][0].reshape(-1)

    def _columns(self, V: Any) -> Any:
        """All products in one forward pass: the columns of the Jacobian of t ↦ f(x + V t) at 0."""
        if not self._single(V):
            return np.stack([self._pushed(V[:, k]) for k in range(V.shape[1])], 1)
        x, ways = self._one(), plain(Tensor, V.astype(self._given.dtype))
        with no_grad():
            found = jacfwd(lambda t: self._vector_of(x + (ways @ t).reshape(x.shape)))(np.zeros(V.shape[1], ways.dtype))
        return found._value

    def _rows(self, U: Any) -> Any:
        """All products in one backward pass: the rows of the Jacobian of x ↦ Uᵀ f(x)."""
        if not self._single(U):
            return np.stack([self._pulled(U[:, k]) for k in range(U.shape[1])], 1)
        ways = plain(Tensor, np.ascontiguousarray(U.T.astype(self._found.dtype)))
        with no_grad():
            found = jacrev(lambda x: ways @ self._vector_of(x))(self._one())
        return found._value.reshape(U.shape[1], -1).T

    # ------------------------------------------------------------------------------------------ formulas

    def latex(self) -> str:
        r"""The formula of the matrix (axes: output…, input…).

        Raises ``FormulaError`` where there is none, ``ShapeError`` for several arrays, which have several matrices.

        >>> import symgrad as sg, numpy as np
        >>> print(sg.func.jacobian_operator(lambda x: sg.sin(x), np.ones(3)).latex())
        \operatorname{diag}\left(\cos\left(x\right)\right)
        """
        if len(self._given.shapes) != 1 or len(self._found.shapes) != 1:
            raise ShapeError("the operator of several arrays has no one formula; fix all but one of them.")
        with deriving():
            bound = Bound(self._inner, self._primals, tuple(range(len(self._primals))))
            out, _ = run(self._inner, bound.args, {}, False, "latex()")
        term, name = containers.flatten(out)[0][0].term, bound.variables[0]._extra.name
        # Sizes have their letters from the whole formula, so the variable is looked for there.
        target = next((t for t in postorder([term]) if t.op is SYMBOL and t.params["name"] == name), None)
        if target is None:
            return "0"
        return latex(wirtinger(term, target)[0] if is_complex(term) else derived(term, target))

    def _sign_of(self) -> str:
        """What it is called, without its formula."""
        function = getattr(self._function, "__name__", "f")
        names = argument_names(self._function, len(containers.flatten(self._primals)[1][2]))
        letter = names[0] if len(names) == 1 else f"({', '.join(names)})"
        return self._sign.format(f=function if function.isidentifier() else "f", x=letter)

    def __repr__(self) -> str:
        known = super().__repr__()[:-1]
        try:
            shown = spelled(self.latex(), "unicode")
        except SymgradError:
            return f"{known}>"
        return f"{known}>" if "\n" in shown or len(shown) > 200 else f"{known} = {shown}>"


class HessianOperator(JacobianOperator):
    """What :func:`hessian_operator` gives: a symmetric :class:`LinearOperator` that knows its formula."""

    _sign = "∂²{f}/∂{x}²"


def jacobian_operator(func: Callable[..., Any], *primals: Any) -> JacobianOperator:
    """The Jacobian of ``func`` at ``primals`` as an operator: products by forward and backward passes, and no matrix.

    Rows are the entries of the result, columns those of the primals, one after the other where they are nested.  The
    function runs once for all products with J, and once for those with its transpose; ``matmat`` takes one pass for
    all columns.  It has the shape of SciPy's ``LinearOperator``, goes into ``scipy.sparse.linalg`` as it is, and prints
    itself with its formula.  Holomorphic functions have complex Jacobians; for other functions of complex arguments
    ``RuntimeError`` is raised.  The point is copied.  Raises ``ArgumentError`` where somebody outside differentiates by
    the point or by what the function holds.

    >>> import symgrad as sg, numpy as np
    >>> J = sg.func.jacobian_operator(lambda x: x[:-1] * x[1:], np.array([1.0, 2.0, 3.0]))
    >>> J @ np.array([1.0, 1.0, 1.0]), J.T @ np.array([1.0, 1.0])
    (array([3., 5.]), array([2., 4., 2.]))
    >>> sg.func.jacobian_operator(lambda x: x**2, np.ones(2))
    <2x2 JacobianOperator of float64: ∂f/∂x = 2 diag(x)>
    """
    check_function(func, "jacobian_operator")
    if not primals:
        raise ArgumentError("jacobian_operator(f, *primals) needs the point: jacobian_operator(f, x).")
    func = for_arrays(func, primals)
    return JacobianOperator(func, primals, func, False)


def hessian_operator(func: Callable[..., Any], *primals: Any) -> HessianOperator:
    """The Hessian of a scalar ``func`` at real ``primals`` as a symmetric operator, of products and no matrix.

    Everything is as for :func:`jacobian_operator` of the gradient.

    >>> import symgrad as sg, numpy as np
    >>> sg.func.hessian_operator(lambda x: (x**3).sum(), np.array([1.0, 2.0]))
    <2x2 HessianOperator of float64: ∂²f/∂x² = 6 diag(x)>
    """
    check_function(func, "hessian_operator")
    if not primals:
        raise ArgumentError("hessian_operator(f, *primals) needs the point: hessian_operator(f, x).")
    for k, leaf in enumerate(containers.flatten(primals)[0]):
        if as_tensor(leaf, f"primal {k}").dtype.kind == "c":
            raise AutogradError(f"hessian_operator: primal {k} is complex; a Hessian is that of real variables.")
    func = for_arrays(func, primals)
    return HessianOperator(func, primals, grad(func, tuple(range(len(primals)))), True)


def _detached(value: Any) -> Any:
    """A primal as plain numbers, which is what an operator is made of; nobody else writes to them."""
    if isinstance(value, Bundle):
        return value
    _refuse_followed(value, "detach() the point")
    return plain(Tensor, np.array(value._value)[()])


def _refuse_followed(value: Any, advice: str) -> None:
    if not isinstance(value, Bundle) and is_followed((value,)):
        raise ArgumentError(
            f"an operator is made of numbers, through which no derivative is taken and which cannot be traced: {advice}"
            ", or use func.jvp and func.vjp, which can be differentiated."
        )
