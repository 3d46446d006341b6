r"""Notations whose meaning the judge finds by trying: functions named by a letter, means, \Sigma for S, e^A."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError

CASES = [
    (r"\Sigma^{-1}(\mu-x)", "(x-mu)@inv(S)@(x-mu)/2", "mu", "x=n mu=n S=n,n", {"S": "symmetric"}),
    (r"\frac{1}{\sigma^2}\sum(x_i-\mu)", "-sum((x-mu)**2)/(2*s**2)", "mu", "x=n mu= s=", {}),
    (r"\frac{2}{n}(x-\bar x)", "mean((x-mean(x))**2)", "x", "x=n", {}),
    (r"\frac{\prod_j x_j}{x_i}", "prod(x)", "x", "x=n", {}),
    (r"\frac{\prod x}{x}", "prod(x)", "x", "x=n", {}),
    (r"\operatorname{tr}(Ae^{xA})", "trace(matrix_exp(x*A))", "x", "x= A=n,n", {}),
    (r"\exp(A+B)^\top", "trace(matrix_exp(A+B))", "A", "A=n,n B=n,n", {}),
    ("exp(A+B).T", "trace(matrix_exp(A+B))", "A", "A=n,n B=n,n", {}),
    (r"\sqrt{2\pi}e^{\Phi^{-1}(x)^2/2}", "ndtri(x)", "x", "x=", {}),
    (r"\frac{1}{\phi(\Phi^{-1}(x))}", "ndtri(x)", "x", "x=", {}),
    (r"\frac{W(x)}{x(1+W(x))}", "lambertw(x)", "x", "x=", {}),
    ("-J_1(x)", "bessel_j0(x)", "x", "x=", {}),
    (r"J_0(x)-\frac{J_1(x)}{x}", "bessel_j1(x)", "x", "x=", {}),
    (r"\Gamma(x)\psi(x)", "exp(lgamma(x))", "x", "x=", {}),
    (r"\psi'(x)-\frac1x", "digamma(x)-log(x)", "x", "x=", {}),
    (r"\psi_1(x)-\frac1x", "digamma(x)-log(x)", "x", "x=", {}),
    ("2aa^Hx", "(a@x)**2", "x", "a=n x=n", {}),
    (r"\frac1a+\log\frac{x_m}x", "log(a)+a*log(xm)-(a+1)*log(x)", "a", "x= a= xm=", {}),
    ("[4*x[0]*(x[0]**2-x[1]), 2*x[1]-2*x[0]**2]", "(x[1]-x[0]**2)**2", "x", "x=2", {}),
    ("2*np.concatenate([[0],d])-2*np.concatenate([d,[0]]), d = np.diff(x)", "sum((x[1:]-x[:-1])**2)", "x", "x=n", {}),
    ("2*np.sum(X)*np.ones(X.shape)", "sum(X)**2", "X", "X=n,m", {}),
    ("scipy.special.polygamma(1, x)", "digamma(x)", "x", "x=", {}),
    ("k = np.exp(-g*np.sum(d**2)); d = x-y; g = -2*g*k*d", "exp(-g*sum((x-y)**2))", "x", "x=n y=n g=", {}),
    (r"k(x-x_{eq})", "k*sum((x-x_eq)**2)/2", "x", "x=n x_eq=n k=", {}),
    (r"k(x_{ij}-x_{eq})", "k*sum((x-x_eq)**2)/2", "x", "x=n,m x_eq= k=", {}),
    ("2Aᵀ(Ax − b) + 2λx", "norm(A@x-b)**2+lam*sum(x**2)", "x", "A=m,n x=n b=m lam=", {}),
    ("∂f/∂x = −b⁄(1+x)²", "b/(1+x)", "x", "x= b=", {}),
    (r"\partial s_i/\partial x_j = s_i(\delta_{ij}-s_j)", "softmax(x)", "x", "x=n", {}),
    (r"\frac{d\sigma}{dx} = \sigma(1-\sigma)", "sigmoid(x)", "x", "x=", {}),
    (
        r"\operatorname{tr}(K^{-1}\frac{\partial K}{\partial t}), K = A + e^tB",
        "log(det(A+exp(t)*B))",
        "t",
        "A=n,n B=n,n t=",
        {},
    ),
    ("F - F.T", "sum(F**2)/2 - trace(F@F)/2", "F", "F=n,n", {}),
    # the function itself
    (r"-\frac{x-c}{s^2} f(x)", "exp(-norm(x-c)**2/(2*s**2))", "x", "x=n c=n s=", {}),
    (r"-\frac{x-c}{s^2} f\left(x, c\right)", "exp(-norm(x-c)**2/(2*s**2))", "x", "x=n c=n s=", {}),
    ("f(x)(1-f(x))", "1/(1+exp(-x))", "x", "x=", {}),
    ("1-f^2", "tanh(x)", "x", "x=", {}),
    (r"\operatorname{diag}(f)-ff^\top", "softmax(x)", "x", "x=n", {}),
    # a column of ones is a plain 1 beside a matrix
    (r"M^\top 1", "sum(M@x)", "x", "M=m,n x=n", {}),
    (r"M^\top\operatorname{diag}(Mx)^{-1}a - M^\top 1", "sum(a*log(M@x)) - sum(M@x)", "x", "M=m,n x=n a=m", {}),
    (r"\frac12 11^\top", "sum(X)/2", "X", "X=m,n", {}),
    # a diagonal of entries, and indices in the order of the alphabet, whatever their size
    (
        r"-\frac{2}{s^2}X^\top\operatorname{diag}\left(\frac{1}{1+r_i^2/s^2}\right)r,\; r=y-Xw",
        "sum(log(1 + ((y - X@w)/s)**2))",
        "w",
        "X=n,d y=n w=d s=",
        {},
    ),
    (r"X^\top D(Xw-y), D=\operatorname{diag}(a_i)", "sum(a*(X@w-y)**2)/2", "w", "X=n,d y=n w=d a=n", {}),
    (r"F_{iJ} - F^{-1}_{Ji}", "trace(F.T@F)/2 - log(det(F))", "F", "F=n,n", {}),
    # arrays by their entries, as formulas are printed
    (
        r"\left[w_{i} \left[\frac{1}{\left[\sqrt{\sum_{k} X_{j k}^{2}}\right]_{j}}\right]_{i} X_{i k}\right]_{i k}",
        "sum(w*sqrt(sum(X**2, axis=1)))",
        "X",
        "X=n,m w=n",
        {},
    ),
    (r"\sum_{j}\left[A_{ij}+A_{ji}\right]_{ij}x_j", "x@A@x", "x", "A=n,n x=n", {}),
    # rows of definitions as they are printed: the last one begins with a minus, one has a condition
    (
        r"\begin{aligned} t_{1} &= \sin\left(q\right) \\ & -2 l \odot t_{1} \end{aligned}",
        "2*sum(l*cos(q))",
        "q",
        "q=n l=n",
        {},
    ),
    (
        r"\begin{aligned} u_{1} &= e^{t} \\ u_{2} &= u_{1} \odot [0.8 \le u_{1} \le 1.2] \\ & u_{2} \end{aligned}",
        "sum(clip(exp(t), 0.8, 1.2))",
        "t",
        "t=n",
        {},
    ),
    (r"t = A x \\ - y ; 2 A^\top t", "sum((A@x-y)**2)", "x", "x=n A=n,n y=n", {}),
    # positive parts of entries
    (r"2 [x_i]_+", "sum(maximum(0, x)**2)", "x", "x=n", {}),
    (r"\sum_i [1-y_i (Xw)_i]_{+}", "sum(maximum(0, 1 - y*(X@w)))", None, "X=n,d y=n w=d", {}),
    # headers that name the result are none of its formulas
    (r"\phi' = 1-\phi^2", "tanh(x)", "x", "x=", {}),
    (r"\phi^{\prime}(x) = 1-\phi^2", "tanh(x)", "x", "x=", {}),
    # transposes of pseudo-inverses, and a product with the identity in one word
    (r"2 A^{+\top}", "log(det(A@A.T))", "A", "A=m,n", {}),
    (r"2 A^{\dagger T}", "log(det(A@A.T))", "A", "A=m,n", {}),
    ("2(X'X + lI)w - 2X'y", "norm(y-X@w)**2 + l*sum(w**2)", "w", "X=n,d y=n w=d l=", {}),
]


@pytest.mark.parametrize(("text", "of", "wrt", "shapes", "assume"), CASES, ids=[case[0] for case in CASES])
def test_it_is_read(text, of, wrt, shapes, assume):
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes, assume=assume)


@pytest.mark.parametrize(
    ("text", "of", "wrt", "shapes"),
    [
        ("2Aᵀ(Ax − b) + λx", "norm(A@x-b)**2+lam*sum(x**2)", "x", "A=m,n x=n b=m lam="),
        (r"\partial s_i/\partial x_j = s_i(\delta_{ij}-s_i)", "softmax(x)", "x", "x=n"),
        (r"\operatorname{tr}(K\frac{\partial K}{\partial t}), K = A + tB", "log(det(A+t*B))", "t", "A=n,n B=n,n t="),
        (r"d\operatorname{vec}F = (B\otimes A)\,d\operatorname{vec}X", "A@X@B", "X", "A=n,n X=n,n B=n,n"),
        (r"df = X^{-1} : dX", "log(det(X))", "X", "X=n,n"),
        (r"\frac{x-c}{s^2} f(x)", "exp(-norm(x-c)**2/(2*s**2))", "x", "x=n c=n s="),
        (r"M 1", "sum(M@x)", "x", "M=n,n x=n"),
    ],
)
def test_what_is_read_is_not_right_for_that(text, of, wrt, shapes):
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes).verdict == "DIFFERENT"


def test_derivatives_of_what_nothing_defines_are_not_zero():
    with pytest.raises(sg.errors.FormulaError, match="partial"):
        sg.judge(r"x + \frac{\partial A}{\partial x}", of="x**2/2 + A", wrt="x", shapes="x= A=")


def test_what_was_tried_is_said():
    verdict = sg.judge(r"\frac{1}{\sigma^2}(\mu-\bar x)", of="(mu-mean(x))**2/(2*s**2)", wrt="mu", shapes="x=n mu= s=")
    assert verdict.notes == [r"\sigma is read as s; a bar is read as the mean."]
    assert not sg.judge(r"(e^{A-B})^\top", of="trace(matrix_exp(A+B))", wrt="A", shapes="A=n,n B=n,n")


def test_texts_of_numpy_have_no_matrix_product_in_the_star():
    least = {"of": "norm(A@x-b)**2", "wrt": "x"}
    assert sg.judge("2*A.T*(A*x-b)", **least)
    for text in ("2*A.T*(A@x-b)", "2*np.transpose(A)*(A@x-b)"):
        verdict = sg.judge(text, **least)
        assert (verdict.verdict, verdict.diagnosis.kind) == ("DIFFERENT", "hadamard")


@pytest.mark.parametrize(
    ("text", "of", "wrt", "kind", "sentence"),
    [
        ("s-1", "sum(s**2/2-log(s))", "s", "term", "The term -1 should be -1/s."),
        ("exp(x)", "-exp(-x)", "x", "sign", "The sign of the exponent is wrong in exp(x)."),
        ("1 - x**2", "x/(1+x**2)", "x", "factor", None),
        ("-3*x**2", "x**4-x**3+x**2", "x", "term", "The terms 4*x**3 and 2*x are missing."),
        (r"\frac{1}{\|x\|}", "x/norm(x)", "x", "shape", "The Jacobian has shape () in place of (5, 5)."),
        # points where the formulas agree say nothing of what is wrong: it was an exponent in these
        (
            "-X.T@y", "sum(maximum(0, 1 - y*(X@w)))", "w", "factor",
            "The factor step(1 - y*(X @ w), 0) is missing where the exact formula has y*step(1 - y*(X @ w), 0).",
        ),
        (
            "2*x", "sum(where(x > 0, x**2, 0))", "x", "factor",
            "The factor where(x > 0, 1, 0) is missing where the exact formula has where(x > 0, x, 0).",
        ),
    ],
)  # fmt: skip
def test_mistakes_that_are_named(text, of, wrt, kind, sentence):
    found = sg.judge(text, of=of, wrt=wrt).diagnosis
    assert found.kind == kind
    assert sentence is None or found.sentence == sentence


def clipped(t, o, A):
    r = sg.exp(t - o)
    return -sg.minimum(r * A, sg.clamp(r, 0.8, 1.2) * A).mean()


def test_a_step_is_one_half_at_0_where_that_counts():
    """Both sides of the minimum are the same wherever nothing is clipped: its printed gradient was DIFFERENT."""
    args = np.linspace(-1, 1, 5), np.linspace(1, -1, 5) / 2, np.array([1.0, -1, 2, 3, -2])
    assert sg.judge(sg.formula(clipped, *args, wrt="t").latex(), *args, of=clipped, wrt="t")


@pytest.mark.parametrize(
    "part", [lambda x: x[:2], lambda x: x[:2] * x[-2:], lambda x: x[0], lambda x: x[-1]], ids=["2", "ends", "0", "-1"]
)
def test_blocks_of_zeros_and_unit_vectors_are_read_as_they_are_printed(part):
    """0_{n - 2} and e_{n,0} were errors."""

    def f(x):
        return (3 * part(x)).sum()

    x = np.arange(1.0, 6.0)
    assert sg.judge(sg.latex(f, x, wrt="x"), x, of=f, wrt="x")


def test_curvatures_of_pairs_are_read_as_they_are_printed():
    """A number times an array of four axes was no product that fits."""

    def energy(q, m):
        r = q[:, None] - q[None]
        return (m[:, None] * m[None] / sg.sqrt((r**2).sum(-1) + 0.1)).sum() / 2

    args = np.cos(np.arange(10.0)).reshape(5, 2), np.arange(1.0, 6.0)
    assert sg.judge(sg.latex(energy, *args, wrt=("q", "q")), *args, of=energy, wrt=("q", "q"))


@pytest.mark.parametrize(
    ("text", "of", "shapes", "sentence"),
    [
        (
            r"-a\odot\sin(wt+p)", "sum(a*cos(w*t + p))", "a=n w=n p=n t=",
            "The factor t is missing where the exact formula has -a*t*sin(p + w*t).",
        ),
        (
            r"-2\sum_i\frac{1}{s^2+r_i^2}x_i, r = y - Xw", "sum(log(s**2 + (y - X@w)**2))", "X=n,d y=n w=d s=",
            "The factor y - (X @ w) is missing where the exact formula has (X @ w - y)/(s**2 + (y - (X @ w))**2).",
        ),
    ],
)  # fmt: skip
def test_factors_are_missing_whatever_their_sign(text, of, shapes, sentence):
    """No single mistake explained these."""
    assert sg.judge(text, of=of, wrt="w", shapes=shapes).diagnosis.sentence == sentence


# ------------------------------------------------------------------------------------------ texts that are no formulas


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + "x" + ")" * 3000,
        "x^{" * 1200 + "2" + "}" * 1200,
        "-" * 5000 + "x",
        "x," * 3000,
        "x+" * 500_000,
        "$" * 10**6,
        "Rational(1, 0)",
        "polygamma(10**9, x)",
        r"\|" * 2000,
    ],
    ids=lambda text: f"{text[:12]} ({len(text)})",
)
def test_they_end_in_an_error(text):
    with pytest.raises(sg.errors.SymgradError) as caught:
        sg.judge(text, of="x@x", wrt="x", shapes="x=n")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", ["10**10**10*x", "2**(10**9)*x", "9" * 5000 + "*x", "1e999*x"])
def test_numbers_that_no_float_holds_are_not_zero(text):
    assert sg.judge(text, of="x@x", wrt="x", shapes="x=n").verdict == "UNDECIDED"
    assert sg.judge("2**70*x", of="2.0**69*x@x", wrt="x", shapes="x=n")


@pytest.mark.parametrize("text", ["3*x = 2*x", "df/dx = 3*x = 2*x", "2*x + 1 = 2*x", "3x = 2x", "∇f = 3x = 2x"])
def test_every_side_of_a_chain_in_plain_text_is_judged(text):
    verdict = sg.judge(text, of="sum(x**2)", wrt="x", shapes="x=n")
    assert verdict.verdict == "DIFFERENT"
    assert verdict.notes == ["the text is a chain of equations, of which this one is judged."]


@pytest.mark.parametrize(
    "text",
    ["g = 2*x", "∇f(x) = 2x", "d/dx f = 2*x", "2*M with M = x", "M + x, where M = x", "x + x = 2*x", "g[i] = 2*x[i]"],
)
def test_headers_and_definitions_in_words_are_no_sides(text):
    assert sg.judge(text, of="sum(x**2)", wrt="x", shapes="x=n")


def test_what_stands_in_front_of_with_is_the_formula():
    assert not sg.judge("3*x with M = 2*x", of="sum(x**2)", wrt="x", shapes="x=n")
    assert sg.judge("-x @ M @ B @ M @ x with M = inv(A+t*B)", of="x@inv(A+t*B)@x", wrt="t", shapes="x=n A=n,n B=n,n t=")


def test_letters_in_brackets_are_indices():
    of, shapes = "norm(A@x-b)**2", "A=m,n x=n b=m"
    assert sg.judge("df/dx[j] = 2*A[i,j]*(A[i,k]*x[k]-b[i])", of=of, wrt="x", shapes=shapes)
    assert not sg.judge("2*A[i,j]*(A[j,k]*x[k]-b[i])", of=of, wrt="x", shapes=shapes)
    with pytest.raises(sg.errors.FormulaError, match="'foo' is no index here"):
        sg.judge("x[foo]", of=of, wrt="x", shapes=shapes)


@pytest.mark.parametrize(
    "text", ["2*x*y = 2*x", "2xy = 2x", r"\frac{2xy}{y} = 2x", r"\frac{df}{dx} = 2x \cdot \frac{y}{y} = 2x"]
)
def test_a_side_that_cannot_be_read_is_no_header(text):
    """The side was passed over, as a name for the derivative is."""
    with pytest.raises(sg.errors.SymgradError, match="'x?y' is no symbol here"):
        sg.judge(text, of="x**2", wrt="x", shapes="x=")


@pytest.mark.parametrize("text", ["3*x since g = 2*x", r"3x \text{ since } g = 2x", "3x because g = 2x", "x = 2*x"])
def test_a_wrong_side_is_found_beside_a_right_one(text):
    assert sg.judge(text, of="x**2", wrt="x", shapes="x=").verdict == "DIFFERENT"
    assert sg.judge(text.replace("3", "2"), of="x**2", wrt="x", shapes="x=").equal == ("3" in text)


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"\mathbf{J} = \mathbf{A}", "A@x", "x"),
        (r"J_{ij} = (1-h_i^2) A_{ij}, \quad h = \tanh(Ax)", "tanh(A@x)", "x"),
        (r"J_{ij} = \frac{\partial f_i}{\partial x_j} = A_{ij}", "A@x", "x"),
        (r"\bar{M} = a b^\top", "a@M@b", "M"),
        (r"\bar M_{ij} = a_i b_j", "a@M@b", "M"),
        (r"\delta f = a^\top \delta M b", "a@M@b", "M"),
        (r"\frac{x-c}{|x-c|}", "norm(x-c)", "x"),
    ],
)
def test_what_papers_write_in_front_and_around_is_read(text, of, wrt):
    shapes = {"A@x": "A=m,n x=n", "tanh(A@x)": "A=m,n x=n", "a@M@b": "M=m,n a=m b=n", "norm(x-c)": "x=n c=n"}[of]
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes)


@pytest.mark.parametrize(
    "text", [r"\frac{\partial f}{\partial M_{ij}} = a_j b_i", "df/dM[i,j] = a[j]*b[i]", "∂f/∂Mᵢⱼ = aⱼbᵢ"]
)
def test_no_other_layout_is_tried_where_the_header_names_the_entry(text):
    assert not sg.judge(text, of="a@M@b", wrt="M", shapes="M=m,n a=m b=n")
    swapped = text.translate(str.maketrans("ijᵢⱼ", "jiⱼᵢ")).split("=")[1]
    assert sg.judge(f"{text.split('=')[0]}={swapped}", of="a@M@b", wrt="M", shapes="M=m,n a=m b=n")


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"\dot f = -k f", "exp(-k*t)", "t"),
        (r"\dot{y} = -k y", "exp(-k*t)", "t"),
        ("f' = -k*f", "exp(-k*t)", "t"),
        ("f'(t) = -k*f", "exp(-k*t)", "t"),
        (r"s^{\prime} = s(1-s)", "1/(1+exp(-x))", "x"),
        ("f' = f(1-f)", "1/(1+exp(-x))", "x"),
    ],
)
def test_primes_and_dots_name_the_result(text, of, wrt):
    assert sg.judge(text, of=of, wrt=wrt, shapes="k= t=" if wrt == "t" else "x=")
    other = (
        text.replace("-k", "-2 k").replace("1-", "2-")
        if "\\" in text
        else text.replace("-k", "-2*k").replace("1-", "2-")
    )
    assert not sg.judge(other, of=of, wrt=wrt, shapes="k= t=" if wrt == "t" else "x=")


@pytest.mark.parametrize(
    "text",
    [
        r"-\sum_{i: y_i w^\top x_i < 1} y_i x_i + k w",
        r"\sum_{i\,:\,y_i w^\top x_i < 1} -y_i x_i + k w",
        r"k w - \sum_{i \mid y_i x_i^\top w < 1}^n y_i x_i",
        "kw − ∑_{i: yᵢwᵀxᵢ < 1} yᵢxᵢ",
    ],
)
def test_sums_over_the_indices_for_which_something_holds(text):
    hinge = "sum(maximum(0, 1 - y*(X@w))) + k/2*(w@w)"
    assert sg.judge(text, of=hinge, wrt="w")
    assert not sg.judge(text.replace("<", ">"), of=hinge, wrt="w")


def test_a_condition_below_a_sum_holds_for_all_that_is_summed():
    assert sg.judge(r"\sum_{i: x_i > 0} x_i + y_i", of="sum(where(x > 0, x + y, 0))*t", wrt="t", shapes="x=n y=n t=")
    assert not sg.judge(
        r"\sum_{i: x_i > 0} x_i + y_i", of="(sum(where(x > 0, x, 0)) + sum(y))*t", wrt="t", shapes="x=n y=n t="
    )
    with pytest.raises(FormulaError, match="a condition is expected here"):
        sg.judge(r"\sum_{i: x_i} x_i", of="x@x", wrt="x")


@pytest.mark.parametrize("text", [r"\prod_{j\neq i} x_j", r"g_i = \prod_{j: j\ne i} x_j", r"\frac{1}{x_i}\prod_j x_j"])
def test_what_a_condition_leaves_out_of_a_product_is_1(text):
    """It was 0 as in a sum, so that the gradient of a product was told to be wrong."""
    assert sg.judge(text, of="prod(x)", wrt="x")
    positive = r"\prod_{i: x_i > 0} x_i"
    assert sg.judge(positive, of="prod(where(x > 0, x, 1))*t", wrt="t", shapes="x=n t=")


def test_a_line_over_real_values_is_not_read_as_the_conjugate():
    with pytest.raises(FormulaError, match="write a mean as"):
        sg.judge(r"2X^\top\overline{(Xw - y)}", of="mean((X@w-y)**2)", wrt="w")


ONE_ENTRY = [
    (r"\psi(r) = r\left(1-\left(\frac{r}{c}\right)^2\right)^2 \mathbb{1}\{|r|<c\}", True),
    (r"\begin{cases} r\left[1-(r/c)^2\right]^2, & |r|\le c,\\ 0, & |r|>c.\end{cases}", True),
    (r"\begin{cases} r\left[1-(r/c)^2\right], & |r|\le c,\\ 0, & |r|>c.\end{cases}", False),
]


@pytest.mark.parametrize(("text", "right"), ONE_ENTRY, ids=range(len(ONE_ENTRY)))
def test_a_function_of_one_entry_is_read_for_all(text, right):
    of = "sum(where(abs(r)<c, (c**2/6)*(1-(1-(r/c)**2)**3), c**2/6))"
    assert sg.judge(text, of=of, wrt="r", shapes="r=n c=").equal == right


def test_products_of_whole_vectors_are_not_those_of_entries():
    for text in (r"x^\top x", r"\|x\|^2", r"\lVert x \rVert^2"):
        assert not sg.judge(text, of="sum(x**3)/3", wrt="x", shapes="x=n")


def test_rows_of_a_matrix_beside_a_vector_of_the_same_letter():
    of = "-log(sigmoid(u@v)) - sum(log(sigmoid(-U@v)))"
    text = r"(\sigma(u^{\rm T} v) - 1)u %s \sum_k \sigma(u_k^\top v) u_k"
    assert sg.judge(text % "+", of=of, wrt="v", shapes="u=d v=d U=k,d")
    assert not sg.judge(text % "-", of=of, wrt="v", shapes="u=d v=d U=k,d")


def test_brackets_of_physics():
    of, assume = "(psi@H@psi)/(psi@psi)", {"H": "symmetric"}
    text = (
        r"\frac{2}{\langle\psi|\psi\rangle}(H\psi - \frac{\langle\psi|H|\psi\rangle}{\langle\psi\mid\psi\rangle}\psi)"
    )
    assert sg.judge(text, of=of, wrt="psi", assume=assume)
    assert not sg.judge(text.replace("2", "1", 1), of=of, wrt="psi", assume=assume)


def test_the_imaginary_unit():
    asked = {"of": "abs(sum(w*exp(1j*k*d*sin(theta))))**2", "wrt": "theta", "shapes": "w=n k= d=n theta="}
    text = (
        r"2\operatorname{Re}\left(\overline{A} B\right), A = \sum_m w_m e^{jk d_m \sin\theta}, "
        r"B = \sum_m j k d_m w_m e^{j k d_m \sin\theta} \cos\theta"
    )
    found = sg.judge(text, **asked)
    assert found
    assert "imaginary" in found.notes[0]
    assert not sg.judge(text.replace("j k d_m w", "k d_m w"), **asked)
