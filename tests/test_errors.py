"""Bad input: every refusal says what happened, with which names, shapes and values, and what to do next."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad import errors


def leaf(*shape, name=None):
    return sg.tensor(np.ones(shape), requires_grad=True, name=name)


def raised(kind, call, *parts):
    """The message of the error, which names all of ``parts``."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    for part in parts:
        assert part in text, text
    return text


def test_shapes_that_do_not_broadcast():
    a, b = leaf(3, name="a"), leaf(4, name="b")
    raised(errors.ShapeError, lambda: a + b, "a of shape (3,)", "b of shape (4,)", "size of tensor a (3)", "(4)")


def test_shapes_that_do_not_multiply():
    raised(errors.ShapeError, lambda: leaf(2, 3) @ leaf(4, 5), "2x3", "4x5", "must equal")


def test_einsum_operands():
    raised(errors.ShapeError, lambda: sg.einsum("ij,jk->ik", leaf(2, 3), leaf(4, 5)), "ij,jk->ik", "(4, 5)", "3")
    raised(errors.ArgumentError, lambda: sg.einsum("i;j", leaf(2)), "';'")


def test_impossible_reshape():
    raised(errors.ShapeError, lambda: leaf(6).reshape(4, 2), "[4, 2]", "size 6")


@pytest.mark.parametrize("name", ["x; import os", "lambda", "", "1x", "a b", "__class__", "x\n"])
def test_names_that_are_no_identifiers(name):
    raised(errors.NameProblem, lambda: sg.tensor(1.0, name=name), repr(name), "identifier")


def test_unknown_names_of_a_program():
    x, w = leaf(3, name="x"), leaf(3, name="w")
    y = (x * w).sum()
    raised(errors.NameProblem, lambda: sg.compile(y, ["x", "v"]), "'v'", "x, w")
    raised(errors.NameProblem, lambda: sg.compile(y, ["x", "w; import os"]), "import os")
    program = sg.compile(y, ["x", "w"])
    raised(errors.NameProblem, lambda: program(x=np.ones(3), u=np.ones(3)), "'u'", "x, w")
    raised(errors.ArgumentError, lambda: program(np.ones(3)), "misses w")
    raised(errors.ShapeError, lambda: program(np.ones(3), np.ones(4)), "(4,)", "x has n = 3")
    raised(errors.ShapeError, lambda: program(np.ones((3, 1)), np.ones(3)), "2 axes")


def test_unknown_op():
    raised(errors.ArgumentError, lambda: _lookup("tanhh"), "'tanhh'", "tanh")


def _lookup(name):
    from symgrad.op import lookup

    return lookup(name)


def test_backward_of_several_entries():
    x = leaf(2, 3)
    raised(RuntimeError, (x * 2).backward, "only for scalar outputs", "(2, 3)", "gradient=")


def test_backward_twice():
    x = leaf(3)
    y = (x * x).sum()
    y.backward()
    raised(RuntimeError, y.backward, "second time", "retain_graph=True")


def test_backward_without_gradients():
    raised(RuntimeError, sg.ones(3).sum().backward, "does not require grad")


def test_unused_input():
    x, z = leaf(3, name="x"), leaf(3, name="z")
    raised(RuntimeError, lambda: sg.autograd.grad(x.sum(), z), "allow_unused=True", "z")


def test_gradient_of_another_shape():
    x = leaf(3)
    raised(RuntimeError, lambda: (x * 2).backward(sg.ones(4)), "torch.Size([4])", "torch.Size([3])")


def test_integers_have_no_gradient():
    raised(RuntimeError, lambda: sg.tensor([1, 2], requires_grad=True), "floating point", "int64")


def test_unsupported_numpy_function():
    x = leaf(3)
    text = raised(errors.UnsupportedFunction, lambda: np.histogram(x), "histogram")
    assert "detach" in text
    raised(errors.UnsupportedFunction, lambda: np.bitwise_count(x), "bitwise_count")


def test_array_of_a_tensor_that_requires_grad():
    raised(RuntimeError, lambda: np.asarray(leaf(3)), "detach")


def test_in_place_on_a_leaf():
    x = leaf(3, name="x")

    def add():
        nonlocal x
        x += 1

    raised(RuntimeError, add, "a leaf Variable that requires grad is being used in an in-place operation", "x")


def test_saved_value_changed_in_place():
    x = leaf(3)
    y = x * 2
    z = (y * y).sum()
    with sg.no_grad():
        y.mul_(3)
    raised(RuntimeError, z.backward, "modified by an inplace operation", "clone")


def test_singular_matrix():
    raised(np.linalg.LinAlgError, lambda: sg.linalg.inv(leaf(2, 2)), "singular", "(2, 2)")


def test_no_tensors_and_no_numbers():
    raised(errors.ArgumentError, lambda: sg.cat([]), "non-empty")
    raised(TypeError, lambda: leaf(3) + "a", "str")


def test_formula_past_its_depth():
    x = leaf()
    for _ in range(3000):
        x = x.sin() * x
    raised(errors.FormulaTooDeep, lambda: x.expr, "where_list")


X = sg.tensor([[1.0, 2.0], [3.0, 4.0]])
MISUSED = {
    "layer_norm": (lambda: sg.nn.functional.layer_norm(X, None), r"layer_norm\(tensor of shape \(2, 2\), None\): "),
    "fft": (lambda: sg.fft.fft(None), r"fft_fft\(None\): .* called as fft_fft\(input, "),
    "abs": (lambda: sg.abs(None), r"abs\(None\): "),
    "keyword": (
        lambda: sg.sum(X, axes=0),
        r"^sum\(\) received an invalid .* got \(Tensor, axes=int\), but expected one of:\n",
    ),
    "text": (lambda: sg.sin("x"), r"numbers and terms, not str \('x'\)"),
    "chunk": (lambda: sg.chunk(X, 1.5), r"chunk\(tensor of shape \(2, 2\), 1.5\): "),
    "lu_unpack": (lambda: sg.lu_unpack(X[0], X), r"lu_unpack\(tensor of shape \(2,\), tensor of shape \(2, 2\)\): "),
    "rows": (lambda: sg.tensor([[1.0], [1.0, 2.0]]), r"expected sequence of length 1 at dim 1 \(got 2\)"),
    "words": (lambda: sg.tensor([1.0, "a"]), r"invalid data type 'str' \('a'\); tensor\(\) takes numbers and lists"),
    "grad": (lambda: sg.func.grad(None), r"grad\(\) takes a function first, not NoneType"),
    "wrt": (lambda: sg.latex(lambda x: x.sum(), (2,), wrt=5), "wrt=5 is no array argument; there are x"),
    "element": (lambda: sg.element(None), "a tensor or a term is taken, not NoneType"),
    "formula": (lambda: sg.latex(3), "tensors, terms, functions and texts, not of int"),
}


@pytest.mark.parametrize("name", MISUSED)
def test_arguments_of_a_wrong_kind_are_named(name):
    call, words = MISUSED[name]
    with pytest.raises(errors.SymgradError, match=words):
        call()


def test_errors_of_the_library_stay_as_they_are():
    with pytest.raises(
        IndexError, match=r"^Dimension out of range \(expected to be in range of \[-2, 1\], but got 7\)"
    ):
        sg.sum(X, 7)


@pytest.mark.parametrize("room", [sg, sg.nn.functional])
def test_names_that_are_not_there_bring_near_ones(room):
    """Python looks for them where the error says what was asked of what."""
    with pytest.raises(AttributeError, match="reluu") as raised:
        room.reluu  # noqa: B018
    assert (raised.value.name, raised.value.obj) == ("reluu", room)


def test_public_functions_can_be_pickled():
    for function in (sg.sin, sg.sum, sg.matmul, sg.linalg.inv, sg.nn.functional.relu, sg.fft.fft):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize(
    ("find", "advice"),
    [
        (
            lambda: sg.func.nothing,
            "it has LinearOperator, functional_call, functionalize, grad, grad_and_value, hessian",
        ),
        (lambda: sg.symeig, "use linalg.eigh"),
    ],
)
def test_rooms_that_are_not_here_say_what_to_do(find, advice):
    with pytest.raises(AttributeError, match=advice):
        find()


def test_dtypes_that_are_none():
    raised(errors.DtypeError, lambda: sg.tensor([1.0], dtype="flaot64"), "'flaot64' is no dtype", "'float64'?")
    raised(errors.DtypeError, lambda: sg.zeros(2, dtype="number"), "'number' is no dtype", "symgrad.float64")
    for other in ("S3", str, object, "M8[s]", np.longdouble):  # dtypes of NumPy's, in which texts and objects came out
        raised(errors.DtypeError, lambda dtype=other: sg.zeros(2, dtype=dtype), "is no dtype of numbers")
        raised(errors.DtypeError, lambda dtype=other: sg.ones(2).to(dtype), "is no dtype of numbers")
    raised(TypeError, lambda: leaf(2).to("nothing"), "'nothing'")


def test_what_to_do_next():
    raised(errors.NameProblem, lambda: leaf(2, name="for"), "no keyword")
    raised(errors.AutogradError, lambda: leaf(2).add_(1), "no_grad()", "x = x + 1")
    raised(errors.AutogradError, sg.tensor(1.0).backward, "does not have a grad_fn", "requires_grad=True")
    raised(errors.ArgumentError, lambda: sg.nn.Parameter(np.ones(2)), "ndarray", "symgrad.tensor(...)")


def test_tensors_of_other_libraries():
    foreign = type("Tensor", (), {"__module__": "elsewhere"})()
    raised(errors.ArgumentError, lambda: sg.exp(foreign), "not elsewhere.Tensor (symgrad.tensor(...) takes it)")


@pytest.mark.parametrize(
    ("name", "place"), [("grad", "func.grad"), ("Function", "autograd.Function"), ("root", "root")]
)
def test_names_that_are_in_a_room(name, place):
    raised(AttributeError, lambda: getattr(sg, name), f"no attribute '{name}'", place)


def test_names_that_formulas_have():
    raised(AttributeError, lambda: sg.unicode, "formula(x).unicode")
    assert not hasattr(sg, "__no_protocol__")
    assert raised(AttributeError, lambda: sg.nonsense, "'nonsense'").endswith("'nonsense'")


@pytest.mark.parametrize(("library", "reader"), [("torch", "from_fx"), ("jax", "from_jax")])
def test_libraries_that_are_not_installed(monkeypatch, library, reader):
    monkeypatch.setitem(sys.modules, library, None)
    text = raised(errors.MissingPackage, lambda: getattr(sg, reader)(lambda x: x, np.ones(2)), f"{reader}()", library)
    assert f"pip install {library}" in text
