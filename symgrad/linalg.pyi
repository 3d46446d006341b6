"""Linear algebra under the names of ``torch.linalg``: views of the op table, batched over leading axes."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

from collections.abc import Sequence
from symgrad import return_types
from symgrad.tensor.kinds import DType, Ints, Number, Operand
from symgrad.tensor.tensor import Tensor

LinAlgError: type[Tensor]
def chain_matmul(*matrices: Operand | Sequence[Operand], out: Tensor | None = None) -> Tensor:
    """The product of several matrices; torch's old name for :func:`multi_dot`, with its warning."""
def cholesky(A: Operand, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Lower triangular L with A = L Lᴴ, or upper triangular with A = Uᴴ U; only that triangle of ``A`` is read."""
def cholesky_ex(A: Operand, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_cholesky_ex:
    """The Cholesky factor, and an integer: 0 where it exists, else the order of the first minor that is not positive."""
def cond(A: Operand, p: Number | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number: ratio of singular values, or ‖A‖ ‖A⁻¹‖ in another matrix norm; 0 without entries."""
def cross(input: Operand, other: Operand, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product along an axis of size 3."""
def det(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """Determinant of square matrices.  Raises ``ShapeError`` unless the last two axes are square."""
def diagonal(A: Operand, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The ``offset``-th diagonal of the last two axes, as the last axis."""
def eig(A: Operand, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """Eigenvalues and eigenvectors (columns) of square matrices, complex."""
def eigh(A: Operand, UPLO: str = 'L', *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eigh:
    """Eigenvalues and eigenvectors (columns) of symmetric (Hermitian) matrices."""
def eigvals(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex."""
def eigvalsh(A: Operand, UPLO: str = 'L', *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of symmetric (Hermitian) matrices in ascending order."""
def expm(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix exponential of square matrices (the last two axes)."""
def frobenius_norm(input: Operand, dim: int | Ints, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The square root of the sum of squares over axes, or over all for ``dim=()``; the old name of a vector norm."""
def householder_product(A: Operand, tau: Operand, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections I - tau_k v_k v_kᴴ, with v_k below the diagonal of A."""
def inv(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of square matrices.  Raises ``ShapeError`` unless the last two axes are square."""
def inv_ex(A: Operand, *, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_inv_ex:
    """The inverse, and an integer: 0 where it exists, else the number of the first pivot that is 0, beside nan."""
def ldl_factor(A: Operand, *, hermitian: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_ldl_factor:
    """L and D in one array, and LAPACK's pivots: P L D Lᵀ Pᵀ = A, or with Lᴴ for ``hermitian``."""
def ldl_factor_ex(A: Operand, *, hermitian: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_ldl_factor_ex:
    """``ldl_factor`` and the number of the first pivot that is 0, or 0 where none is; ``check_errors`` raises then."""
def ldl_solve(LD: Operand, pivots: Operand, B: Operand, *, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """X with A X = B from the results of ``ldl_factor``."""
def logm(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """The principal logarithm of square matrices (the last two axes): ``matrix_exp(logm(A))`` is A."""
def lstsq(A: Operand, b: Operand, rcond: float | None = None, *, driver: str | None = None, out: Sequence[Tensor] | None = None) -> return_types.linalg_lstsq:
    """The least-squares solution of A X = B, with residuals, rank and singular values (plain numbers)."""
def lu(A: Operand, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu:
    """P, L and U with A = P L U."""
def lu_factor(A: Operand, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu_factor:
    """L and U in one array, and LAPACK's pivots.  Raises torch's error where a pivot is 0."""
def lu_factor_ex(A: Operand, *, pivot: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu_factor_ex:
    """``lu_factor`` and the number of the first pivot that is 0, or 0 where none is; ``check_errors`` raises then."""
def lu_solve(LU: Operand, pivots: Operand, B: Operand, *, left: bool = True, adjoint: bool = False, out: Tensor | None = None) -> Tensor:
    """X with A X = B (X A = B unless ``left``; Aᴴ if ``adjoint``) from the results of ``lu_factor``."""
def matmul(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Matrix product with NumPy's rules for vectors and batches."""
def matrix_exp(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """The matrix exponential of square matrices (the last two axes)."""
def matrix_norm(A: Operand, ord: Number | str = 'fro', dim: Ints = ..., keepdim: bool = False, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """A norm of matrices: "fro", "nuc", 2, -2 (singular values), 1, -1, inf, -inf (sums of columns or rows)."""
def matrix_power(A: Operand, n: int, *, out: Tensor | None = None) -> Tensor:
    """A multiplied n times with itself; the inverse's power for negative n, the identity for 0."""
def matrix_rank(A: Operand, tol: Operand | None = None, hermitian: bool = False, *, atol: Operand | None = None, rtol: Operand | None = None, out: Tensor | None = None) -> Tensor:
    """How many singular values exceed ``max(atol, rtol * the largest)``; it has no derivative."""
def multi_dot(tensors: Sequence[Operand], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, contracted in the cheapest order; the first and last may be vectors."""
def norm(A: Operand, ord: Number | str | None = None, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """A vector norm, or a matrix norm when two axes (or "fro") are asked for; without ``ord`` the entries' 2-norm."""
def nuclear_norm(input: Operand, dim: int | Ints = ..., keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The sum of singular values; the old name of ``matrix_norm(A, "nuc")``."""
def pinv(A: Operand, rcond: Operand | None = None, hermitian: bool = False, *, atol: Operand | None = None, rtol: Operand | None = None, out: Tensor | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverse; singular values up to max(atol, rtol · the largest) count as zero."""
def qr(A: Operand, mode: str = 'reduced', *, out: Sequence[Tensor] | None = None) -> return_types.linalg_qr:
    """Q and R with A = Q R; ``mode`` is "reduced", "complete" or "r"."""
def slogdet(A: Operand, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet:
    """Sign and log|det| of square matrices."""
def solve(A: Operand, B: Operand, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """X with A X = B (X A = B unless ``left``); B may be a batch of vectors."""
def solve_ex(A: Operand, B: Operand, *, left: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_solve_ex:
    """The solution, and an integer: 0 where it exists, else the number of the first pivot that is 0, beside nan."""
def solve_sylvester(a: Operand, b: Operand, q: Operand, *, out: Tensor | None = None) -> Tensor:
    """X with a X + X b = q, for a (n, n), b (m, m) and q (n, m), and for batches of them."""
def solve_triangular(A: Operand, B: Operand, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Tensor | None = None) -> Tensor:
    """X with A X = B (X A = B unless ``left``) for a triangular A, of which only that triangle is read."""
def sqrtm(A: Operand, *, out: Tensor | None = None) -> Tensor:
    """The principal square root of square matrices (the last two axes): the one whose eigenvalues are right of 0."""
def svd(A: Operand, full_matrices: bool = True, *, driver: str | None = None, out: Sequence[Tensor] | None = None) -> return_types.linalg_svd:
    """U, S and Vᴴ with A = U diag(S) Vᴴ; of columns that only complete a basis, what they span has a derivative."""
def svdvals(A: Operand, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values in descending order."""
def tensorinv(A: Operand, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the linear map from the last axes to the first ``ind``."""
def tensorsolve(A: Operand, other: Operand, dims: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """X with tensordot(A, X) = B."""
def vander(x: Operand, *, N: int | None = None, out: Tensor | None = None) -> Tensor:
    """The powers 0 … N-1 of every entry along a new last axis."""
def vecdot(x: Operand, y: Operand, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Σ conj(x) · y along an axis."""
def vector_norm(x: Operand, ord: float = 2, dim: int | Ints | None = None, keepdim: bool = False, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    """The p-norm of entries over the axes ``dim`` (all of them by default); derivative 0 at the zero vector."""
