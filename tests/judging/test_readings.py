r"""Notations that can be meant in two ways, functions with primes and letters raised, and what is said of each."""

import numpy as np
import pytest

import symgrad as sg

LEAST = ("norm(A@x-b)**2", "x", "A=m,n x=n b=m")
SIGMOID = ("1/(1+exp(-z))", "z", "z=")
EQUAL = [
    (
        LEAST,
        [
            "2A^t(Ax-b)",
            "2A^*(Ax-b)",
            r"2A^{*}(Ax-b)",
            r"2A^\dag(Ax-b)",
            r"2A^{\mathstrut\top}(Ax-b)",
            "2⋅Aᵀ⋅(A⋅x−b)",
            r"2\mathsf{A}^T(\mathsf{A}x-b)",
            r"2A^{\text{⊤}}(Ax-b)",
        ],
    ),
    (
        SIGMOID,
        [
            "Exp[-z]/(1+Exp[-z])^2",
            r"\sigma^{\prime}(z)",
            "s*(1-s); s = expit(z)",
            r"\operatorname{logistic}(z)(1-\sigma(z))",
        ],
    ),
    (("sum(sigmoid(z))", "z", "z=n"), ["σ(z) ∘ (1 − σ(z))", "σ(zᵢ)(1−σ(zᵢ))", r"\sigma'(z)"]),
    (("tan(x)", "x", "x="), [r"\sec^2 x", r"\sec^2(x)", "sec(x)**2", "Sec[x]^2", r"\csc^2 x\tan^2 x"]),
    (("sin(2*pi*x)", "x", "x="), [r"2\pi\cos2\pi x", r"2\pi\cos 2\pi x"]),
    (("sin(x)*cos(x)", "x", "x="), ["Cos[x]^2 - Sin[x]^2"]),
    (("x**3*exp(2*x)", "x", "x="), ["x²(3+2x)e²ˣ", "x^2 (2x+3) Exp[2x]"]),
    (("norm(x)", "x", "x=n"), [r"\frac{x}{||x||}", r"\frac{x}{||x||_2}"]),
    (("y*abs(x)", "y", "x= y="), [r"|x||y|/|y|"]),
    (("log(det(X))", "X", "X=n,n"), [r"X^{-1\top}", "X^{-1 T}", r"\frac{1}{|X|}\mathrm{cof}(X)"]),
    (("x@A@x/2", "x", "A=n,n x=n"), [r"\operatorname{sym}(A)x"]),
    (("sum(tanh(W@x+b))", "W", "W=m,n x=n b=m"), [r"\tanh'(Wx+b)x^T"]),
    (("sum(arctan(x))", "x", "x=n"), [r"\arctan'(x)", r"\arctan' x"]),
    (("sum(1/tan(x))", "x", "x=n"), [r"\cot'(x)"]),
    (("sum(arcsin(A@x))", "x", "A=n,n x=n"), [r"A' \arcsin'(Ax)"]),
    (("relu(x-k)**3", "x", "x= k="), ["3(x-k)_+^2", r"3\left(x-k\right)_{+}^2"]),
    (("sum(relu(x)**2)", "x", "x=n"), [r"\begin{cases}2x&x>0\\0\end{cases}"]),
    (("sum(relu(x))", "x", "x=n"), ["(x > 0).float()", r"\chi_{x>0}"]),
    (("exp(-norm(x-m)**2/(2*s**2))", "x", "x=n m=n s="), [r"\frac{m-x}{s^2}e^{-\|x-m\|^2/2s^2}"]),
    (("a*exp(-b/(r*t))", "t", "a= b= r= t="), [r"\frac{ab}{rt^2}e^{-b/rt}"]),
    (("x**log(x)", "x", "x="), [r"2\log x\,x^{\log x-1}"]),
    (("log(1+exp(b*e))", "b", "b= e="), [r"\frac{e}{1+e^{-be}}"]),
    (
        ("lam**k*exp(-lam)/exp(lgamma(k+1))", "lam", "lam= k="),
        [r"\frac{\lambda^ke^{-\lambda}}{k!}\left(\frac k\lambda-1\right)"],
    ),
    (("exp(lgamma(a)+lgamma(b)-lgamma(a+b))", "a", "a= b="), [r"B(a,b)(\psi(a)-\psi(a+b))"]),
    (("bessel_j0(a*x)", "x", "x= a="), ["-aJ_1(ax)"]),
    (("a*log(cosh(b*(x+c)))/b", "x", "x= a= b= c="), [r"a\tanh(\beta(x+c))"]),
    (("sum((X-mean(X,0))**2)/2", "X", "X=m,n"), [r"X-\bar X"]),
    (("sum(kron(A,B))", "A", "A=m,n B=p,q"), [r"\mathbf 1(\mathbf 1^\top B\mathbf 1)\mathbf 1^\top"]),
    (("sum(clip(r,-1,1)**2)/2", None, "r=n"), [r"\tfrac12\|\operatorname{clip}(r,-1,1)\|^2"]),
    (("sum(A@x)", "x", "A=m,n x=n"), ["sum(A, 0)", "np.sum(A, axis=0)"]),
]


@pytest.mark.parametrize("group", EQUAL, ids=lambda group: f"{group[0][0]} by {group[0][1]}")
def test_they_are_read(group):
    (of, wrt, shapes), texts = group
    wrong = [text for text in texts if not sg.judge(text, of=of, wrt=wrt, shapes=shapes)]
    assert not wrong


def test_kronecker_products_of_any_size():
    assert sg.judge(r"A\otimes B", of="kron(A, B)", shapes="A=2,3 B=3,2")
    assert sg.judge(r"A\otimes B", of="kron(A, B)", shapes="A=m,n B=p,q")
    assert not sg.judge(r"B\otimes A", of="kron(A, B)", shapes="A=m,n B=p,q")
    assert sg.judge("A.shape[0]*det(kron(A, X))*inv(X).T", of="det(kron(A, X))", wrt="X", shapes="A=p,p X=n,n")


def test_matrices_of_which_one_half_is_read_are_symmetric():
    def root(X):
        return sg.sqrt(sg.linalg.eigvalsh(X)).sum()

    def exponential(X):
        return sg.exp(sg.linalg.eigvalsh(X)).sum()

    verdict = sg.judge(r"\tfrac12X^{-1/2}", of=root, wrt="X", shapes="X=n,n")
    assert verdict
    assert verdict.notes[-1] == "X is taken to be symmetric: only one half of it is read."
    assert sg.judge("e^X", of=exponential, wrt="X", shapes="X=n,n")
    assert sg.judge("e^X+1", of=exponential, wrt="X", shapes="X=n,n").verdict == "DIFFERENT"


# ------------------------------------------------------------------------------------------ verdicts


def test_the_star_of_numpy_is_no_matrix_product():
    """Where NumPy can compute a text, its star is NumPy's; where it cannot, the star may be that of SymPy or MATLAB."""
    verdict = sg.judge("(A + A.T) * x", of="x@A@x", wrt="x", shapes="A=n,n x=n")
    assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", "hadamard")
    assert verdict.theirs.shape == (2, 2) or verdict.theirs.shape == (1, 1)
    verdict = sg.judge("2*S*W", of="trace(W.T@S@W)", wrt="W", shapes="S=n,n W=n,p", assume={"S": "symmetric"})
    assert verdict.notes == ["* and ** are read as those of matrices."]
    assert verdict
    for text in ("2*np.outer(x, x) @ A * (x@x)/(x@x)", "x @ x.T @ A", "a @ x"):
        assert sg.judge(text, of="a*x@A@x/2", wrt="x", shapes="A=n,n x=n a=").verdict == "DIFFERENT"


def test_arguments_of_functions_are_not_dropped():
    verdict = sg.judge("(sum(A, 1) + sum(A, 1).T) @ x", of="x@sum(A, 0)@x", wrt="x", shapes="A=b,n,n x=n")
    assert verdict.verdict == "DIFFERENT"


@pytest.mark.parametrize("text", ["-x*log(-x**2/2)", "1/sqrt(-1-x**2)", "log(-exp(x))"])
def test_formulas_without_real_values_are_different(text):
    verdict = sg.judge(text, of="exp(-x**2/2)", wrt="x", shapes="x=")
    assert verdict.verdict == "DIFFERENT"
    assert np.isnan(verdict.theirs)
    assert np.isfinite(verdict.ours)


def test_counterexamples_are_no_kinks():
    verdict = sg.judge("2*where(sin(x) > a*x, cos(x), a)", of="maximum(sin(x), a*x)", wrt="x", shapes="x= a=")
    values = verdict.counterexample
    assert np.sin(values["x"]) != values["a"] * values["x"]
    assert verdict.diagnosis.sentence == "The formula is 2 times the exact one."


def test_names_that_are_no_symbols_are_errors():
    """And no verdict: z_R is not the entry R of the number z."""
    with pytest.raises(sg.errors.SymgradError, match="no symbol here"):
        sg.judge(r"\frac{z}{z_R^2}", of="z**2/(2*w)", wrt="z", shapes="z= w=")


@pytest.mark.parametrize(
    ("text", "of", "wrt", "shapes", "kind"),
    [
        ("A @ x", "sum(A*outer(x, y))", "x", "x=n y=n A=n,n", "variable"),
        ("-inv(A).T @ B.T @ inv(A).T", "trace(B@inv(X))", "X", "A=n,n B=n,n X=n,n", "variable"),
        ("2*(x-mean(x))/n", "sum((x-mean(x))**2)/(n-1)", "x", "x=n", "factor"),
        ("outer(V*(1-sigmoid(B@x)), x)", "sum(V*(A@x)*sigmoid(B@x))", "A", "A=n,m B=n,m x=m V=n", "complement"),
        ("x**2/(x*cos(x) - sin(x))", "sin(x)/x", "x", "x=", "exponent"),
        ("X.T @ (1 - y)", "sum(log(X@w) - y*(X@w))", "w", "X=m,n w=n y=m", "factor"),
        ("trace(B@X)*A.T + sum(A@X)*B.T", "trace(A@X)*trace(B@X)", "X", "A=n,n B=n,n X=n,n", "function"),
        ("n1*cos(x)/sqrt(n2**2-n1**2*sin(x)**2)", "asin(n1*sin(x)/n2)", "x", "x= n1= n2=", "assumption"),
    ],
)
def test_mistakes_that_are_named(text, of, wrt, shapes, kind):
    verdict = sg.judge(text, of=of, wrt=wrt, shapes=shapes)
    assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", kind), verdict.diagnosis


def test_positive_numbers():
    text, of = "n1*cos(x)/sqrt(n2**2-n1**2*sin(x)**2)", "asin(n1*sin(x)/n2)"
    verdict = sg.judge(text, of=of, wrt="x")
    assert verdict.diagnosis.sentence == "The formula is right only where n2 is positive."
    assert sg.judge(text, of=of, wrt="x", assume={"n2": "positive"})


# ------------------------------------------------------------------------------------------ hostile texts


@pytest.mark.parametrize(
    "text",
    [
        "np.zeros(10**9)",
        "np.eye(10**9)@x",
        "np.kron(" * 40 + "x" + ",x)" * 40,
        "nan",
        "J_{99999}(x)",
        r"\langle x\rangle",
    ],
    ids=lambda text: text[:16],
)
def test_they_are_not_computed(text):
    """Arrays beyond all memory and the like end in an error, or a verdict that is not EQUAL."""
    try:
        assert not sg.judge(text, of="x@x", wrt="x", shapes="x=n")
    except sg.errors.SymgradError:
        pass


def test_counterexamples_of_shapes_are_regular():
    """Where shapes do not fit, the exact value shown is not one at a singular matrix."""
    text, of = "X @ inv(X.T @ X) @ A @ X", "trace(inv(X.T @ X) @ A)"
    verdict = sg.judge(text, of=of, wrt="X", shapes="X=m,n A=n,n")
    assert verdict.proof == "shapes"
    X = verdict.counterexample["X"]
    assert np.linalg.matrix_rank(X.T @ X) == X.shape[1]
    M = np.linalg.inv(X.T @ X)
    A = verdict.counterexample["A"]
    np.testing.assert_allclose(verdict.ours, -X @ M @ (A + A.T) @ M, rtol=1e-7)


@pytest.mark.parametrize(
    ("text", "of", "wrt", "shapes", "assume"),
    [
        (r"\tfrac12(\Sigma_0^{-1}-\Sigma^{-1})", "(trace(inv(S0)@S)-log(det(S)))/2", "S", "S=n,n S0=n,n", ["S", "S0"]),
        (r"\frac{\sigma_1}{\sigma_2^2}-\frac1{\sigma_1}", "s1**2/(2*s2**2)-log(s1)", "s1", "s1= s2=", []),
        (r"\frac{wz}{z_R^2\sqrt{1+(z/z_R)^2}}", "w*sqrt(1+(z/zr)**2)", "z", "w= z= zr=", []),
        (r"x_1\mathbf1+(\sum x)e_1", "x[0]*sum(x)", "x", "x=n", []),
    ],
)
def test_letters_with_an_index_that_are_names(text, of, wrt, shapes, assume):
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes, assume=dict.fromkeys(assume, "symmetric"))


def test_factors_that_the_shortest_form_hides():
    verdict = sg.judge("cos(x)", of="log(sin(x))", wrt="x")
    assert verdict.diagnosis.sentence == "The factor 1/sin(x) is missing."


def test_a_sum_that_a_function_divides_by_may_be_missing():
    verdict = sg.judge("e^x", of="logsumexp(x)", wrt="x")
    assert verdict.diagnosis.sentence == "The factor sum(exp(x)) is too much."


def test_unknown_letters_are_named():
    with pytest.raises(
        sg.errors.SymgradError, match=r"\\mu is no symbol here; the symbols are x, .* define it after a"
    ):
        sg.judge(r"2x+\mu", of="x@x", wrt="x", shapes="x=n")
