"""What is said of shapes, sizes and settings that do not fit, in torch's words."""

from __future__ import annotations

import re

import numpy as np
import pytest


def said(call, words):
    """The error of ``call`` begins with torch's words."""
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)) as caught:
        call()
    assert str(caught.value).startswith(words), str(caught.value)


EQUATIONS = {
    "sizes": ("ij,jk", 2, "einsum(): subscript j has size 3 for operand 1 which does not broadcast with previously "),
    "unknown": ("ij->ik", 1, "einsum(): output subscript k does not appear in the equation for any input operand"),
    "axes": (
        "ijk",
        1,
        "einsum(): the number of subscripts in the equation (3) does not match the number of dim",
    ),
    "few": ("ij,ij", 1, "einsum(): fewer operands were provided than specified in the equation"),
    "many": ("ij", 2, "einsum(): more operands were provided than specified in the equation"),
    "letter": ("i1", 1, "einsum(): invalid subscript given at index 1 in the equation string, subscripts must be in "),
    "behind": ("ij->i-", 1, "einsum(): invalid subscript given at index 5 in the equation string"),
    "twice": ("ij->jj", 1, "einsum(): output subscript j appears more than once in the output"),
    "dots": ("i.j", 1, "einsum(): found '.' for operand 0 that is not part of any ellipsis"),
    "more dots": ("...i...", 1, "einsum(): found '.' for operand 0 for which an ellipsis was already found"),
    "dots behind": ("ij->ij.", 1, "einsum(): found '.' for output that is not part of any ellipsis (...)"),
    "diagonal": ("ii", 1, "einsum(): subscript i is repeated for operand 0 but the sizes don't match, 5 != 3"),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_that_do_not_fit(t, name):
    equation, count, words = EQUATIONS[name]
    said(lambda: t.einsum(equation, *[t.ones(3, 5)] * count), words)


DIAGONALS = {
    "ii": ((1, 2), "subscript i is repeated for operand 0 but the sizes don't match, 2 != 1"),
    "ii->i": ((2, 1), "subscript i is repeated for operand 0 but the sizes don't match, 1 != 2"),
    "...ii->...i": ((3, 1, 2), "subscript i is repeated for operand 0 but the sizes don't match, 2 != 1"),
    "iji": ((2, 3, 1), "subscript i is repeated for operand 0 but the sizes don't match, 1 != 2"),
    "ii->": ((0, 1), "subscript i is repeated for operand 0 but the sizes don't match, 1 != 0"),
}


@pytest.mark.parametrize("equation", DIAGONALS)
def test_a_diagonal_does_not_spread_an_axis_of_size_1(t, equation):
    shape, words = DIAGONALS[equation]
    said(lambda: t.einsum(equation, t.ones(shape)), f"einsum(): {words}")


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin", "argmax", "argmin"])
def test_extremes_of_nothing_name_the_function_and_the_axis(t, name):
    x = t.ones(2, 0)
    said(lambda: getattr(x, name)(), f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    said(lambda: getattr(x, name)(1), f"{name}(): Expected reduction dim 1 to have non-zero size.")
    if name in ("argmax", "argmin"):
        said(lambda: getattr(x.to(t.complex64), name)(1), f"{name}(): does not support complex input")
    found = getattr(x, name)(0)
    assert (found[0] if name in ("max", "min") else found).shape == (0,)


def test_spaces_and_dots_in_equations(t):
    x = t.arange(24.0).reshape(2, 3, 4)
    assert t.einsum(" b i j -> b j ", x).equal(x.sum(1))
    assert t.einsum("... i -> i ...", x).equal(x.movedim(-1, 0))
    assert t.einsum("b...,b...", x, x).equal((x * x).sum(0))
    assert t.einsum("->", t.tensor(2.0)).item() == 2


def test_products_of_other_ranks(t):
    c, a = t.ones(3, 5), t.ones(2, 3, 4)
    said(lambda: t.mm(a, c), "self must be a matrix")
    said(lambda: t.mm(c, a), "mat2 must be a matrix")
    said(lambda: t.mv(c, c), "vector + matrix @ vector expected, got 1, 2, 2")
    said(lambda: t.bmm(c, a), "batch1 must be a 3D tensor")
    said(lambda: t.bmm(a, a), "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3].")
    said(lambda: t.addmm(c, c, a), "mat2 must be a matrix, got 3-D tensor")
    said(lambda: t.addmv(c, c, c), "vector + matrix @ vector expected, got 2, 2, 2")
    said(lambda: t.tensordot(c, c, 3), "tensordot expects dims < ndim_a or ndim_b, but got dims=3")
    said(lambda: t.tensordot(c, a, ([0], [0])), "contracted dimensions need to match, but first has size 3 in dim 0")
    said(lambda: t.cdist(c, a), "X1 and X2 must have the same number of columns. X1: 5 X2: 4")
    said(lambda: t.block_diag(a), "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input 0 has 3")


def test_matrices_and_systems_that_do_not_fit(t):
    c, eye = t.ones(3, 5), t.eye(2)
    said(lambda: t.linalg.cholesky(c), "linalg.cholesky: A must be batches of square matrices, but they are 3 by 5 mat")
    said(lambda: t.logdet(c), "logdet: A must be batches of square matrices, but they are 3 by 5 matrices")
    said(lambda: t.linalg.inv(c[0]), "linalg.inv: The input tensor A must have at least 2 dimensions.")
    said(lambda: t.linalg.svd(c[0]), "linalg.svd: The input tensor A must have at least 2 dimensions.")
    said(lambda: t.linalg.qr(c[0]), "linalg.qr: The input tensor A must have at least 2 dimensions.")
    unfit = "Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)"
    said(lambda: t.linalg.solve(eye, t.ones(3)), f"linalg.solve: {unfit}")
    said(lambda: t.linalg.solve_triangular(eye, t.ones(3, 1), upper=True), f"linalg.solve_triangular: {unfit}")
    said(lambda: t.cholesky_solve(t.ones(3, 1), eye), "Incompatible matrix sizes for cholesky_solve: each A matrix is")


def test_labels_that_do_not_fit(t):
    f, c, row = t.nn.functional, t.ones(3, 5), t.ones(5)
    for loss in (f.nll_loss, f.cross_entropy):
        said(lambda loss=loss: loss(c, t.ones(3, 4).long()), "0D or 1D target tensor expected, multi-target not supp")
        said(lambda loss=loss: loss(c, t.tensor([0.0, 1, 2])), "expected target dtype to be Long or Byte, but got Flo")
        said(lambda loss=loss: loss(row, t.tensor([1, 2])), "For 1D input, 1D target must have size 1, but got target")
        said(lambda loss=loss: loss(t.ones(2, 3, 4), t.ones(2, 5).long()), "Expected target size [2, 4], got [2, 5]")
        assert loss(row, t.tensor([1]), reduction="none").shape == ()
    said(lambda: f.one_hot(t.tensor([3]), 2), "Class values must be smaller than num_classes.")
    said(lambda: f.one_hot(t.tensor([-1])), "Class values must be non-negative.")


def test_levels_outside_of_the_unit_interval(t):
    c = t.ones(3, 5)
    said(lambda: t.quantile(c, 2.0), "quantile() q must be in the range [0, 1] but got 2")
    said(lambda: t.nanquantile(c, t.tensor([0.5, -1.0])), "quantile() q values must be in the range [0, 1]")
    said(lambda: t.quantile(c.long(), 0.5), "quantile() input tensor must be either float or double dtype")
    said(lambda: t.quantile(t.ones(0), 0.5), "quantile() input tensor must be non-empty")
    said(lambda: t.quantile(c, 0.5, interpolation="no"), "quantile() interpolation must be one of linear, lower, highe")


def test_settings_that_do_not_fit(t):
    f, c = t.nn.functional, t.ones(3, 5)
    said(lambda: f.pad(c, (1,)), "Padding length must be divisible by 2")
    said(lambda: f.pad(c, (1,) * 6), "Padding length should be less than or equal to two times the input dimension but")
    said(lambda: f.pad(c, (-9, 1)), "narrow(): length must be non-negative.")
    said(lambda: f.dropout(c, 2.0), "dropout probability has to be between 0 and 1, but got 2.0")
    said(lambda: t.clamp(c), "torch.clamp: At least one of 'min' or 'max' must not be None")
    said(lambda: f.batch_norm(c, t.ones(2), t.ones(2)), "running_mean should contain 5 elements not 2")
    said(lambda: f.bilinear(c, c, t.ones(1, 3, 5)), "bilinear(): input1 size does not match weight size: got 5 but e")
    said(lambda: t.randperm(-1), "Trying to create tensor with negative dimension -1: [-1]")
    said(lambda: t.tensor("a"), "new(): invalid data type 'str'")
    said(lambda: t.tensor([None]), "Could not infer dtype of NoneType")
    said(lambda: t.from_numpy([1]), "expected np.ndarray (got list)")


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # which torch does itself
def test_transforms_say_what_they_expected(t):
    x = t.ones(2)
    words = "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims. Maybe you "
    said(lambda: t.func.grad(lambda x: x)(x), words + "wanted to use the vjp or jacrev APIs instead?")
    with t.autograd.forward_ad.dual_level():
        words = "Trying to set a forward gradient that has a different size than that of the original Tensor, this is n"
        said(lambda: t.autograd.forward_ad.make_dual(x, t.ones(3)), words)


def test_numbers_have_no_entries_to_select(t):
    said(lambda: t.tensor(1.0).select(0, 0), "select() cannot be applied to a 0-dim tensor.")


@pytest.mark.parametrize("moves", [(np.int64(2),), (np.int64(1), 0), (1, np.int64(-1)), ((1, np.int32(1)), (0, 1))])
def test_entries_are_moved_by_numbers_of_numpys(t, moves):
    x = t.arange(6).reshape(2, 3)
    assert x.roll(*moves).tolist() == np.roll(x.numpy(), *moves).tolist()


@pytest.mark.parametrize("shapes", [((), ()), ((3,), ()), ((), (2, 3))])
def test_numbers_are_no_factors_of_matrix_products(t, shapes):
    a, b = map(t.ones, shapes)
    words = f"both arguments to matmul need to be at least 1D, but they are {a.dim()}D and {b.dim()}D"
    said(lambda: a @ b, words)
    said(lambda: t.matmul(a, b), words)


@pytest.mark.parametrize("number", [3, 2.0, True, 1j, np.int64(2), np.float32(2)])
def test_matrix_products_with_numbers_are_no_operation(t, number):
    """Python says so, as of what is no operand at all."""
    x = t.ones(2, 3)
    kind = type(number).__name__
    if isinstance(number, np.generic):
        kind = f"numpy.{kind}"
    with pytest.raises(TypeError, match=f"unsupported operand type.* for @: 'Tensor' and '{kind}'"):
        x @ number
    with pytest.raises(TypeError, match=f"unsupported operand type.* for @: '{kind}' and 'Tensor'"):
        number @ x


@pytest.mark.parametrize("number", [2, 2.5, np.float32(2)])
def test_numbers_are_no_tensors_of_another_shape(t, number):
    """Where a number stands for a matrix, its kind is what is wrong, and not its shape."""
    x, kind = t.ones(3), type(number).__name__
    if isinstance(number, np.generic):
        kind = f"numpy.{kind}"
    calls = {
        "matmul(): argument 'other' (position 2)": lambda: t.matmul(x, number),
        "matmul(): argument 'other' (position 1)": lambda: x.matmul(number),
        "mm(): argument 'mat2' (position 2)": lambda: t.mm(t.ones(3, 3), number),
        "dot(): argument 'tensor' (position 2)": lambda: t.dot(x, number),
        "mv(): argument 'vec' (position 1)": lambda: t.ones(3, 3).mv(number),
    }
    for words, call in calls.items():
        with pytest.raises(TypeError, match=re.escape(f"{words} must be Tensor, not {kind}")):
            call()


FACTORIES = {
    "zeros": (lambda t: t.zeros("a"), "zeros(): argument 'size' (position 1) must be tuple of ints, not str"),
    "rand": (lambda t: t.rand((2, "a")), "rand(): argument 'size' failed to unpack the object at pos 2"),
    "ones": (lambda t: t.ones(2.5), "ones(): argument 'size' (position 1) must be tuple of ints, not float"),
    "eye": (lambda t: t.eye("a"), "eye(): argument 'n' (position 1) must be int, not str"),
    "randperm": (lambda t: t.randperm("a"), "randperm(): argument 'n' (position 1) must be int, not str"),
    "size": (lambda t: t.ones(2).size("a"), "size(): argument 'dim' (position 1) must be int, not str"),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_sizes_that_are_no_numbers(t, name):
    """The function and the argument are named: Python's error spoke of a str and an integer."""
    call, words = FACTORIES[name]
    with pytest.raises(TypeError, match=re.escape(words)):
        call(t)


@pytest.mark.parametrize("name", ["numel", "is_floating_point", "is_complex", "is_nonzero", "is_conj"])
def test_questions_about_what_is_no_tensor(t, name):
    """They were Python's AttributeError of an int."""
    with pytest.raises(TypeError, match=f"{name}\\(\\): argument 'input' \\(position 1\\) must be Tensor, not int"):
        getattr(t, name)(3)


def test_sizes_of_axes_that_are_not_there(t):
    for dim in (2, -3):
        with pytest.raises(IndexError, match="Dimension out of range \\(expected to be in range of \\[-2, 1\\]"):
            t.ones(2, 3).size(dim)


def test_the_error_of_singular_matrices_by_its_inner_name(t):
    with pytest.raises(t._C._LinAlgError, match="singular"):
        t.linalg.inv(t.zeros(2, 2))
