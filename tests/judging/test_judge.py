"""Judging formulas: what is right is found equal, what is corrupted is found different, with a reason."""

from __future__ import annotations

import ast
import copy

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import FormulaError, NameProblem
from symgrad.sources import source
from tests.judging.textbook import TEXTBOOK

NAMES = {
    **{n: getattr(np, n) for n in ("exp", "log", "sin", "cos", "tanh", "sqrt", "trace", "outer", "sum", "abs", "sign")},
    "inv": np.linalg.inv, "det": np.linalg.det, "norm": np.linalg.norm, "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softmax": lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
}  # fmt: skip


def number(text, values):
    """The value of a text of this file, by NumPy itself."""
    with np.errstate(all="ignore"):
        try:
            return np.asarray(eval(text, {"__builtins__": {}}, {**NAMES, **values}))
        except (TypeError, ValueError, np.linalg.LinAlgError):
            return None


# ------------------------------------------------------------------------------------------ corruptions


def edited(text, place, change):
    """The text with ``change`` applied to its node number ``place``; None where it does not apply."""
    tree = ast.parse(text, mode="eval")
    nodes = [n for n in ast.walk(tree) if change(copy.deepcopy(n)) is not None]
    if place >= len(nodes):
        return None
    wanted = nodes[place]

    class Edit(ast.NodeTransformer):
        def visit(self, node):
            return change(node) if node is wanted else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Edit().visit(tree)))


def untransposed(node):
    return node.value if isinstance(node, ast.Attribute) and node.attr == "T" else None


def dropped(node):
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) else None


def dropped_first(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return node.right if isinstance(node.op, ast.Add) else ast.UnaryOp(ast.USub(), node.right)
    return None


def swapped(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return ast.BinOp(node.right, node.op, node.left)
    return None


def hadamard(node):
    return ast.BinOp(node.left, ast.Mult(), node.right) if isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.MatMult) else None  # fmt: skip


def matrix(node):
    return ast.BinOp(node.left, ast.MatMult(), node.right) if isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.Mult) and not isinstance(node.left, ast.Constant) else None  # fmt: skip


def exponent(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        return ast.BinOp(node.left, node.op, ast.Constant(node.right.value + 1))
    return None


def flipped(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
    return None


CORRUPTIONS = {
    "factor 2": (lambda text, k: f"2*({text})" if not k else None, {"factor"}),
    "sign": (lambda text, k: f"-({text})" if not k else None, {"sign"}),
    "inner sign": (lambda text, k: edited(text, k, flipped), {"sign", "term", "factor"}),
    "transpose": (lambda text, k: edited(text, k, untransposed), {"transpose", "order", "factor", "assumption"}),
    "dropped term": (lambda text, k: edited(text, k, dropped), {"term", "factor", "function", "sign"}),
    "dropped first term": (lambda text, k: edited(text, k, dropped_first), {"term", "factor", "function", "sign"}),
    "swapped": (lambda text, k: edited(text, k, swapped), {"order", "transpose", "hadamard"}),
    "⊙ for @": (lambda text, k: edited(text, k, hadamard), {"hadamard", "missing sum"}),
    "@ for ⊙": (lambda text, k: edited(text, k, matrix), {"hadamard", "transpose"}),
    "exponent": (lambda text, k: edited(text, k, exponent), {"exponent", "factor", "function"}),
}


def shapes_of(text):
    return {part.partition("=")[0]: tuple(s for s in part.partition("=")[2].split(",") if s) for part in text.split()}


def sampled(shapes, seed):
    rng = np.random.default_rng(seed)
    sizes = dict(zip("nmpq", (3, 4, 2, 5), strict=True))
    values = {}
    for name, shape in shapes.items():
        array = rng.uniform(0.3, 1.5, tuple(sizes[s] for s in shape))
        square = array.ndim == 2 and array.shape[0] == array.shape[1]
        values[name] = array + 2 * np.eye(*array.shape) if square else array
    return values


def multiplies_numbers(text, values):
    """Whether ``@`` stands beside a number, where it can only mean the product with it."""
    try:
        eval(text, {"__builtins__": {}}, {**NAMES, **values})
    except (TypeError, ValueError) as error:
        return "enough dimensions" in str(error) or "operand type" in str(error)
    return False


def differs(a, b):
    return a is None or b is None or a.shape != b.shape or not np.allclose(a, b, rtol=1e-9, atol=1e-12)


def corrupted():
    out = []
    for f, wrt, text, _, shapes in TEXTBOOK:
        values = sampled(shapes_of(shapes), 3)
        right = number(text, values)
        for name, (corrupt, kinds) in CORRUPTIONS.items():
            for place in range(2):
                wrong = corrupt(text, place)
                if wrong is None or not differs(number(wrong, values), right):
                    continue
                if name == "@ for ⊙" and multiplies_numbers(wrong, values):
                    continue
                if name == "⊙ for @" and (number(wrong, values) is None or "@" not in wrong):
                    continue
                out.append((f, wrt, text, wrong, shapes, name, kinds))
    return out


# ------------------------------------------------------------------------------------------ the set


@pytest.mark.parametrize("entry", TEXTBOOK, ids=lambda e: f"d {e[0]} / d {e[1]}")
def test_textbook_formulas_are_equal(entry):
    f, wrt, text, tex, shapes = entry
    assert sg.judge(text, of=f, wrt=wrt, shapes=shapes).verdict == "EQUAL"
    assert sg.judge(tex, of=f, wrt=wrt, shapes=shapes).verdict == "EQUAL"


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
def test_corrupted_formulas_are_different(part):
    """Every corruption is found, the counterexample holds in NumPy, and nine of ten mistakes are named."""
    cases = corrupted()
    assert len(cases) >= 200
    cases = cases[part::6]
    wrong, unnamed = [], []
    for f, wrt, text, bad, shapes, name, kinds in cases:
        verdict = sg.judge(bad, of=f, wrt=wrt, shapes=shapes, layout="mixed")  # a transposed one is no other layout
        if verdict.verdict != "DIFFERENT":
            wrong.append((name, f, wrt, bad, str(verdict)))
            continue
        if verdict.proof == "counterexample":
            values = {k: np.asarray(v) for k, v in verdict.counterexample.items()}
            assert differs(verdict.theirs, verdict.ours), (f, wrt, bad)
            assert not differs(number(text, values), verdict.ours), (f, wrt, bad, str(verdict))
        if verdict.diagnosis is None or verdict.diagnosis.kind not in kinds:
            unnamed.append((name, f, wrt, bad, str(verdict.diagnosis)))
    assert not wrong, wrong
    assert len(unnamed) <= 0.1 * len(cases), (len(unnamed), len(cases), unnamed)


# ------------------------------------------------------------------------------------------ forms of a text


LEAST = {"of": "norm(A@x-b)**2", "wrt": "x"}


@pytest.mark.parametrize(
    "text",
    [
        "2*A.T*(A*x-b)", "2*A.T@(A@x-b)", "2 * A.T.dot(A.dot(x) - b)", "2*np.dot(A.T, np.dot(A, x) - b)",
        "2*A'*(A*x-b)",
        "2*A^T*(A*x - b)", "2 A'(Ax - b)", "2 Aᵀ(Ax−b)", "2*transpose(A)*(A*x-b)", "2*A.T*A*x - 2*A.T*b",
        "df/dx = 2*A.T*(A*x-b)", r"2A^T(Ax-b)", r"$2A^{\top}(Ax-b)$",
        r"\nabla f(x) = 2\,\mathbf{A}^\top(\mathbf{A}\mathbf{x}-\mathbf{b})",
        r"2 A^\intercal r, \quad r = Ax - b", r"2\left(A^{\mathsf{T}} A x - A^{\mathrm{T}} b\right)",
        r"\frac{\partial f}{\partial x} = -2\cdot A^T(b-A\cdot x)",
    ],
)  # fmt: skip
def test_ways_to_write_it(text):
    assert sg.judge(text, **LEAST)


def test_sympy():
    A, x, b = sp.MatrixSymbol("A", 3, 2), sp.MatrixSymbol("x", 2, 1), sp.MatrixSymbol("b", 3, 1)
    assert sg.judge(2 * A.T * (A * x - b), **LEAST)
    assert not sg.judge(2 * A.T * (A * x + b), **LEAST)
    t = sp.Symbol("t")
    assert sg.judge(2 * t * sp.cos(t**2), of="sin(t**2)", wrt="t").proof == "structural"
    assert sg.judge(sp.diff(sp.exp(-(t**2)) * sp.tan(t), t), of="exp(-t**2)*tan(t)", wrt="t")


def test_functions_tensors_and_hessians():
    def loss(A, x, b):
        return ((A @ x - b) ** 2).sum()

    assert sg.judge("2*A.T@(A@x-b)", of=loss, wrt="x")
    assert sg.judge("2*A.T@(A@x-b)", (5, 3), (3,), (5,), of=loss, wrt="x")
    assert sg.judge(r"2A^TA", of=loss, wrt=("x", "x"))
    x = sg.tensor([0.3, 0.4], requires_grad=True, name="x")
    assert sg.judge("cos(x)", of=x.sin().sum(), wrt=x)
    assert sg.judge("-diag(sin(x))", of=x.sin().sum(), wrt=(x, x))
    assert sg.judge("diag(cos(x))", of="sin(x)", wrt="x", shapes="x=n")
    assert sg.judge("x*sin(x)", of="sin(x)*x")


@pytest.mark.parametrize(
    ("text", "f"),
    [
        (r"\det(X)", lambda X: sg.linalg.slogdet(X).logabsdet),
        ("2*sign(x)", lambda x: 2 * x.abs()),
        ("sum(cos(x))", lambda x: x.sin().sum()),
    ],
    ids=["det", "sign", "cos"],
)
def test_functions_taken_for_each_other(text, f):
    """The mistake is named, of functions of entries and of matrices."""
    assert sg.judge(text, of=f).diagnosis.kind == "function"


def test_assumptions():
    verdict = sg.judge("2*W@x", of="x@W@x", wrt="x")
    assert verdict.diagnosis.kind == "assumption"
    assert "W is symmetric" in verdict.diagnosis.sentence
    assert sg.judge("2*W@x", of="x@W@x", wrt="x", assume={"W": "symmetric"})


def test_page():
    verdict = sg.judge(r"A^T(Ax-b)", **LEAST)
    assert str(verdict).splitlines()[:2] == [
        "DIFFERENT: A^T(Ax-b) is not df/dx.",
        "  mistake     The formula is 1/2 times the exact one.",
    ]
    assert max(map(len, str(verdict).splitlines())) <= 80
    assert verdict.counterexample["A"].tolist() == [[1.0]]
    assert (verdict.theirs.tolist(), verdict.ours.tolist()) == ([-1.0], [-2.0])
    assert repr(sg.judge("2*x", of="x**2", wrt="x")).startswith("EQUAL: 2*x is df/dx")


def test_numerical_proof_and_undecided():
    verdict = sg.judge("where(x > 0, 2*x, 0)", of="sum(relu(x)**2)", wrt="x", shapes="x=n")
    assert verdict.verdict == "EQUAL"
    assert sg.judge("1e999*x", of="x**2", wrt="x").verdict == "UNDECIDED"
    assert sg.judge("x + log(1 + exp(-2*x))", of="log(exp(x) + exp(-x))").proof == "numerical"
    assert sg.judge("abs(x)", of="sqrt(x**2)").verdict == "EQUAL"
    assert sg.judge("x", of="sqrt(x**2)").verdict == "DIFFERENT"


@pytest.mark.parametrize(
    ("text", "error", "column"),
    [("2*(x", FormulaError, 4), ("2*q", NameProblem, 2), ("x $ 2", FormulaError, 2), (r"\frac{x}{", FormulaError, 9)],
)
def test_errors_show_the_place(text, error, column):
    with pytest.raises(error) as caught:
        sg.judge(text, of="x**2", wrt="x")
    lines = str(caught.value).splitlines()
    assert lines[-1].index("^") - lines[-2].index(text) == column


def test_nothing_is_evaluated():
    for text in ("__import__('os').getcwd()", "x.__class__", "(lambda: 1)()", "[x for x in x]", "open('f')"):
        with pytest.raises((FormulaError, NameProblem)):
            sg.judge(text, of="x**2", wrt="x")


def test_shapes_are_found():
    about = source("norm(Y - tanh(X@W1)@W2)**2", scalar=True)
    assert {str(s.name): s.shape for s in about.symbols} == {
        "Y": ("n", "m"), "X": ("n", "p"), "W1": ("p", "q"), "W2": ("q", "m"),
    }  # fmt: skip
    about = source(lambda X, w, y: sg.log(1 + sg.exp(-y * (X @ w))).sum(), scalar=True)
    assert [len(s.shape) for s in about.symbols] == [2, 1, 1] or {s.name for s in about.symbols} == {"X", "w", "y"}


def test_cancellation_is_no_difference():
    """Formulas that are equal and lose digits in rounding are not called different."""
    assert sg.judge("(x*cos(x) - sin(x))/x**2", of="sin(x)/x", wrt="x")
    assert sg.judge("2*sin(x/2)**2", of="1 - cos(x)").verdict == "EQUAL"
    assert sg.judge("0*x", of="sin(x)**2 + cos(x)**2 - 1").verdict == "EQUAL"
    assert sg.judge("(x + 1)**3 - x**3 - 3*x**2 - 3*x", of="exp(0*x)").verdict == "EQUAL"
    assert sg.judge("1.00001*x", of="x*1").verdict == "DIFFERENT"


# ------------------------------------------------------------------------------------------ index notation


INDICES = [
    (r"\sum_i x_i^2", "sum(x**2)", None, "x=n"),
    (r"\sum_{i=1}^n x_i^{2}", "sum(x**2)", None, "x=n"),
    (r"2x_i", "sum(x**2)", "x", "x=n"),
    (r"2\sum_k A_{ki}(\sum_j A_{kj}x_j - b_k)", "norm(A@x-b)**2", "x", "A=m,n x=n b=m"),
    (r"2A_{ki}(A_{kj}x_j - b_k)", "norm(A@x-b)**2", "x", "A=m,n x=n b=m"),
    (r"\delta_{ij}\cos(x_i)", "sin(x)", "x", "x=n"),
    (r"δ_{ij}", "1*x", "x", "x=n"),
    ("δ_ij cos(x_j)", "sin(x)", "x", "x=n"),
    ("∑_i x_i^2", "sum(x**2)", None, "x=n"),
    ("2*x_i", "sum(x**2)", "x", "x=n"),
    (r"\frac{e^{x_i}}{\sum_j e^{x_j}}", "logsumexp(x)", "x", "x=n"),
    (r"\delta_{ik}\delta_{jl}", "X", "X", "X=n,m"),
    (r"\delta_{im}A_{nj}", "X@A", "X", "X=n,m A=m,p"),
    (r"\delta_{in}A_{mj}", "X.T@A", "X", "X=m,n A=m,p"),
    (r"\delta_{ik}x_j+\delta_{jk}x_i", "outer(x,x)", "x", "x=n"),
    (r"A_{ij}+A_{ji}", "x@A@x", ("x", "x"), "x=n A=n,n"),
    (r"\sum_i A_{ii}", "trace(A)", None, "A=n,n"),
    (r"\prod_j x_j / x_i", "prod(x)", "x", "x=n"),
    (r"2\sum_{bm}(X+c)_{bmn}", "sum((X+c)**2)", "c", "X=b,m,n c=n"),
]


@pytest.mark.parametrize(("text", "of", "wrt", "shapes"), INDICES, ids=[row[0] for row in INDICES])
def test_index_notation(text, of, wrt, shapes):
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes).verdict == "EQUAL"


def test_index_notation_corrupted():
    for text, of, wrt, shapes in INDICES:
        verdict = sg.judge(f"3({text})", of=of, wrt=wrt, shapes=shapes)
        assert verdict.verdict == "DIFFERENT", text
        assert verdict.diagnosis.kind == "factor", text


def test_functions_in_index_notation():
    f = r"\sum_i (\sum_j A_{ij} x_j - b_i)^2"
    assert sg.judge("2*A.T@(A@x-b)", of=f, wrt="x")
    assert sg.judge(r"2\sum_i A_{ij}(\sum_k A_{ik}x_k - b_i)", of=f, wrt="x")
    assert {str(s.name): s.shape for s in source(f, scalar=True).symbols} == {"A": ("n", "m"), "x": ("m",), "b": ("n",)}


@pytest.mark.parametrize(
    ("text", "word"),
    [("x_{i+j}", "a number is expected"), (r"\sum_k x_i", "no index k")],
)
def test_index_notation_refused(text, word):
    with pytest.raises(FormulaError, match=word):
        sg.judge(text, of="x@A@x", wrt="x", shapes="x=n A=n,n")


def test_number_of_indices():
    verdict = sg.judge("x_{ij}", of="x@A@x", wrt="x", shapes="x=n A=n,n")
    assert (verdict.verdict, verdict.proof) == ("DIFFERENT", "shapes")
    assert "2 indices for an array with 1 axes" in verdict.diagnosis.sentence
    verdict = sg.judge("A_{i}", of="x@A@x", wrt="x", shapes="x=n A=n,n")  # the rows of A
    assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", "missing sum")


def test_jacobian_of_a_function():
    assert sg.judge(r"\delta_{im}A_{nj}", of=lambda X, A: X @ A, wrt="X", shapes="X=n,m A=m,p")


@pytest.mark.parametrize(
    ("of", "wrt", "shapes"),
    [
        ("norm(A@x-b)**2", "x", "A=m,n x=n b=m"), ("sum(tanh(A@x)**2)", "A", "A=m,n x=n"),
        ("sum(log(1+exp(X@w)) - y*(X@w))", "w", "X=n,m w=m y=n"), ("norm(x - y)**2/2 - a*norm(x)", "x", "x=n y=n a="),
        ("sum(relu(x)*y)", "x", "x=n y=n"), ("log(det(X)) + trace(X@A@X)", "X", "X=n,n A=n,n"),
    ],
)  # fmt: skip
def test_what_is_printed_is_judged_equal(of, wrt, shapes):
    about = source(of, shapes=shapes)
    found = sg.formula(about.derivative(wrt))
    assert sg.judge(found.unicode(), of=of, wrt=wrt, shapes=shapes), found.unicode()
    assert sg.judge(f"∂f/∂{wrt} = {found.unicode()}", of=of, wrt=wrt, shapes=shapes)
    assert sg.judge(found.latex(), of=of, wrt=wrt, shapes=shapes), found.latex()
    assert sg.judge(found.expr, of=of, wrt=wrt, shapes=shapes)


@pytest.mark.parametrize(
    ("text", "of", "part"),
    [
        ("exp(x)*(1+1e-13)", "sum(exp(x))", "1e-13"),
        ("2*x*1.0000000001", "sum(x**2)", "1e-10"),  # was undecided
        ("x*0.693147", "log(2)*sum(x**2)/2", "2.6e-07"),
        ("1-tanh(x)**2+1e-12", "sum(tanh(x))", "1.4e-12"),
    ],
)
def test_small_differences_are_told_from_rounding_by_digits(text, of, part):
    found = sg.judge(text, of=of, wrt="x")
    assert found.verdict == "DIFFERENT"
    assert found.diagnosis.kind == "digits"
    assert part in found.diagnosis.sentence
    given, exact = (line.split()[1] for line in str(found).splitlines() if line.split()[0] in ("given", "exact"))
    assert given != exact


def test_constants_typed_with_all_digits_of_a_float_are_right():
    assert sg.judge("x*0.6931471805599453", of="log(2)*sum(x**2)/2", wrt="x")
    assert sg.judge("sqrt(x**2)", of="sum(x*abs(x)/2)", wrt="x").proof == "numerical"


@pytest.mark.parametrize("text", ["det(X) X^{-T}", "det(X)X^{-T}", r"X^{-\top} det(X)", r"\det(X) X^{-\top}"])
def test_functions_in_latex_need_no_backslash(text):
    assert sg.judge(text, of="det(X)", wrt="X")
    assert sg.judge(r"\frac{1}{1+exp(-x)}", of="sum(log(1+exp(x)))", wrt="x")
    assert sg.judge(r"A^\top Ax(x^\top x) + Ax x^\top Ax", of="norm(A@x)**2*(x@x)/2", wrt="x").verdict == "DIFFERENT"
    assert sg.judge(r"A^\top Ax(x^\top x) + \|Ax\|^2 x", of="norm(A@x)**2*(x@x)/2", wrt="x")


@pytest.mark.parametrize(
    ("text", "of", "wrt", "shapes", "said"),
    [
        (r"2X^\top(Xw-y)", "mean((X@w-y)**2)", "w", None, "The factor 1/n is missing"),
        (r"p \odot (1-p), \quad p=\mathrm{softmax}(z)", "softmax(z)", "z", None, "Only the diagonal of the exact"),
        (r"\mathbb{1}\{x>0\}", "sum(abs(x))", "x", None, "right only where x is positive"),
        ("A B", "trace(A@X@B)", "X", "A=n,n B=n,n X=n,n", "right only if A and B are symmetric"),
        ("(B ⊗ A) vec(I)", "A@B.T", None, "A=n,m B=n,m", "f has (5, 5)"),
    ],
)
def test_mistakes_are_told_in_numbers_and_by_what_they_depend_on(text, of, wrt, shapes, said):
    """It was: the factor div, a sum that is 1e15 times too large, an exponent of sign(x), and X symmetric as well."""
    found = sg.judge(text, of=of, wrt=wrt, **({} if shapes is None else {"shapes": shapes}))
    assert found.verdict == "DIFFERENT"
    assert said in found.diagnosis.sentence
