"""Formulas in plain text with the signs of paper, ``½ x²`` and ``Σᵢ xᵢ``: what they mean without a backslash."""

import pytest

import symgrad as sg

MEANS = {
    # fractions and roots
    "½ x²": "x**2/2",
    "½‖Ax−b‖²": "norm(A@x - b)**2/2",
    "¼ x⁴": "x**4/4",
    "x^½": "sqrt(x)",
    "√(x²+1)": "sqrt(x**2 + 1)",
    "√x": "sqrt(x)",
    "∛(x y)": "cbrt(x*y)",
    "x⁻¹ᐟ²": "1/sqrt(x)",
    "exp(−(x−μ)²/(2σ²))/(σ√(2π))": "exp(-(x - μ)**2/(2*σ**2))/(σ*sqrt(2*pi))",
    # powers and inverses of functions
    "sin²(x)": "sin(x)**2",
    "sin² x": "sin(x)**2",
    "tanh²(Wx + b)": "tanh(W@x + b)**2",
    "sinh⁻¹(x)": "arcsinh(x)",
    "tan^-1(x)": "arctan(x)",
    "e⁻ˣ": "exp(-x)",
    "2ˣ": "2**x",
    "xⁿ": "x**n",
    "ln(1+eˣ)": "log(1 + exp(x))",
    "1/(1+e⁻ˣ)": "1/(1 + exp(-x))",
    "log₂ x": "log2(x)",
    "log_10(x)": "log10(x)",
    r"\log_2(x)": "log2(x)",
    "log|X|": "log(det(X))",
    "−½ log |Σ|": "-log(det(Σ))/2",
    # Greek letters: functions before brackets, and the number π
    "σ(Wx + b)": "sigmoid(W@x + b)",
    "−log σ(x)": "-log(sigmoid(x))",
    "σ'(x)": "sigmoid(x)*(1 - sigmoid(x))",
    "Φ(x)": "ndtr(x)",
    "2πr": "2*pi*r",
    r"\pi r^2": "pi*r**2",
    # norms, products and transposes
    "||X||_F": "norm(X)",
    "‖X‖²_F": "norm(X)**2",
    r"\|X\|^2_F": "norm(X)**2",
    "‖x‖_∞": "norm(x, inf)",
    "||x||_1": "norm(x, 1)",
    "∥x∥²": "norm(x)**2",
    "⟨x, y⟩": "x @ y",
    "x⊤Ax": "x @ (A @ x)",
    "x^⊤ A x": "x @ (A @ x)",
    "1ᵀx": "sum(x)",
    r"1^\top x": "sum(x)",
    "x₊": "relu(x)",
    "x ≥ 0": "x >= 0",
    # sums with an index
    "Σᵢ xᵢ yᵢ": "x @ y",
    "Σ_i x_i y_i": "x @ y",
    "sum_i x_i y_i": "x @ y",
    "∑_i x_i^2": "sum(x**2)",
    "Σ xᵢ²": "sum(x**2)",
    "Πᵢ xᵢ": "prod(x)",
    "log ∑ᵢ exp(xᵢ)": "logsumexp(x)",
    "−Σᵢ yᵢ log ŷᵢ": "-y @ log(ŷ)",
    "ΣᵢΣⱼ Aᵢⱼ xᵢ xⱼ": "x @ A @ x",
    # Σ is a matrix where it has no index, or two
    "(x−μ)ᵀΣ⁻¹(x−μ)": "(x - μ) @ inv(Σ) @ (x - μ)",
    # indices from 0 are names, those from 1 entries
    "θ₀ + θ₁ x": "θ_0 + θ_1*x",
    "x₁² + x₂²": "x[0]**2 + x[1]**2",
    # an index stands beside its array; it was a factor, and 2x[0] was 0
    "2x[0]": "2*x[0]",
    "x[0]x[1]": "x[0]*x[1]",
    "2X[:,0]": "2*X[:, 0]",
    "2(x+y)[0]": "2*(x + y)[0]",
    # LaTeX with such signs in it
    r"\frac{1}{2}xᵀAx": "(x @ (A @ x))/2",
    "e^{-x²}": "exp(-x**2)",
}


@pytest.mark.parametrize("text", MEANS)
def test_signs_of_paper(text):
    """Such a text has the formula of what it means in NumPy's words."""
    assert str(sg.formula(text)) == str(sg.formula(MEANS[text]))


@pytest.mark.parametrize("text", ["x*sin", "2*exp", "exp −x", "log*x"])
def test_a_function_without_its_argument_is_no_symbol(text):
    """Nobody calls an array ``sin``: the argument is missing."""
    with pytest.raises(sg.errors.FormulaError, match="is a function, whose argument is missing"):
        sg.formula(text)


def test_a_symbol_is_a_symbol_where_it_is_stated():
    """Stated names are arrays whatever they may mean elsewhere."""
    assert str(sg.formula("θ₁*x", shapes="θ_1= x=n")) == "x*θ_1"
    assert [str(s.name) for s in sg.formula("2*_a*x").symbols] == ["_a", "x"]
    assert [str(s.name) for s in sg.formula(r"\sum_k \pi_k x_k").symbols] == ["pi", "x"]


def test_other_bases_of_logarithms_are_quotients():
    """A base that no op has is one of natural logarithms."""
    assert sg.formula(r"\log_3 x").unicode() == "(1/log(3)) log(x)"
    assert sg.judge(r"\frac{1}{x \log b}", of=r"\log_b x", wrt="x", shapes="x= b=")


@pytest.mark.parametrize(
    ("text", "wrt", "derivative"),
    [
        ("Σᵢ (yᵢ − wᵀxᵢ)²", "w", "2 xᵀ (x w − y)"),
        ("−Σᵢ yᵢ log σ(wᵀxᵢ)", "w", "−xᵀ (y ⊙ σ(−x w))"),
        ("Σᵢ (yᵢ − θᵀxᵢ)²", "θ", "2 xᵀ (x θ − y)"),
        ("½(x−μ)ᵀΣ⁻¹(x−μ)", "Σ", "−½ Σ⁻ᵀ (x − μ) (x − μ)ᵀ Σ⁻ᵀ"),
    ],
)
def test_shapes_that_indices_tell(text, wrt, derivative):
    """``wᵀxᵢ`` speaks of the rows of a matrix, as ``w^\\top x_i`` does in LaTeX."""
    assert sg.formula(text, wrt=wrt).unicode() == derivative


@pytest.mark.parametrize(
    ("formula", "of"),
    [
        ("[2x₁; 2x₂]", "x₁² + x₂²"),
        ("[2x₁, 2x₂]ᵀ", "x₁² + x₂²"),
        ("(2x₁, 2x₂)", "x_1^2 + x_2^2"),
        ("[2x[0]; 2x[1]]", "x[0]² + x[1]²"),
        (r"(2x_1, 2x_2)^\top", r"x_1^{2} + x_2^2"),
        (r"\begin{pmatrix} 2x_1 \\ 2x_2 \end{pmatrix}", "x_1^2 + x_2^2"),
        (
            r"\nabla f = \begin{bmatrix} -400x_1(x_2-x_1^2) - 2(1-x_1) \\ 200(x_2-x_1^2) \end{bmatrix}",
            "f(x) = 100(x_2-x_1^2)^2 + (1-x_1)^2",
        ),
    ],
)
def test_gradients_as_columns_of_entries(formula, of):
    """Entries of a vector, and their derivatives one below the other in every kind of brackets."""
    assert sg.judge(formula, of=of, wrt="x", shapes="x=2").verdict == "EQUAL"


@pytest.mark.parametrize(
    ("text", "shapes", "value"),
    [
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix} x", "a= b= c= d= x=2", "[a, b; c, d] x"),
        ("[a, b; c, d] x", "a= b= c= d= x=2", "[a, b; c, d] x"),
        (r"\det \begin{pmatrix} a & b \\ c & d \end{pmatrix}", "a= b= c= d=", "a d − b c"),
    ],
)
def test_matrices_entry_by_entry(text, shapes, value):
    """Matrices of numbers in LaTeX's environments and in MATLAB's brackets."""
    assert sg.formula(text, shapes=shapes).unicode() == value


def test_an_entry_among_blocks_is_refused():
    """An entry with an index letter is no block: the Unicode reader said AttributeError."""
    from symgrad.formula.reading.unicode import from_unicode

    with pytest.raises(sg.errors.FormulaError, match="an entry with index letters"):
        from_unicode("[2 xᵢ; 2 xⱼ]", {"x": ("n",)})


@pytest.mark.parametrize(
    ("text", "wrt", "derivative"),
    [
        (r"\sum_i (y^{(i)} - \theta^\top x^{(i)})^2", "theta", "2 xᵀ (x θ − y)"),
        (r"\frac12 \sum_{i=1}^m \sum_j (x_j^{(i)} - \mu_j)^2", "x", "x − 𝟏 μᵀ"),
        (r"\|X\|_*", "X", "X = U diag(σ) Vᵀ '(SVD)'\n  U Vᵀ"),
        (r"\mathbf{1}_{x>0}^\top y", "y", "[x > 0]"),
        (r"\widehat{x} y", "y", "x̂"),
        # an index that is a number, too
        (r"\sum_{k=0}^{n} a_k x^k", "a", "x^(arange(n))"),
        (r"\frac{1}{n+1} \sum_{k=0}^{n} a_k x^k", "a", "(1/(n + 1)) x^(arange(m))"),  # a has n + 1 entries
        (r"\frac{1}{n} \sum_{k=0}^{n-1} a_k", "a", "(1/n) 𝟏"),
        ("sum_k a_k x^k", "a", "x^(arange(n) + 1)"),
        ("Σₖ aₖ xᵏ", "a", "x^(arange(n) + 1)"),
        (r"\sum_{t=1}^T \gamma^{t-1} r_t", "r", "γ^(arange(n))"),
        (r"\sum_{k=1}^n \frac{a_k}{k}", "a", "1/(arange(n) + 1)"),
        # what has no index among entries is a number
        (r"\sum_i (y_i - a x_i - b)^2", "a", "2 xᵀ (a x − y + b)"),
        (r"\sum_i \log(1+e^{-y_i(w x_i + b)})", "w", "−(y ⊙ σ(−y ⊙ (w x + b)))ᵀ x"),
    ],
)
def test_notations_of_papers(text, wrt, derivative):
    """Samples counted above, nuclear norms, indicators and wide accents."""
    assert sg.formula(text, wrt=wrt).unicode() == derivative


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"\frac{d}{dx} \sin x", "a derivative that is to be found is asked for with wrt="),
        ("d/dx sin(x)", "a derivative that is to be found is asked for with wrt="),
        (r"\mathbb{E}[x^2]", "expectations are not read"),
        ("f'(x)", "f is no function that is known here"),
        (r"W^{[1]} x", "is a label"),
        (r"\theta^{(2)}", "is a label"),
        (r"\operatorname{argmax}_x y", "the index of argmax is the number of an axis here, not x"),
    ],
)
def test_what_is_not_read_is_refused(text, problem):
    """Letters that look like symbols where they are signs: they were factors and powers."""
    with pytest.raises(sg.errors.FormulaError, match=problem):
        sg.formula(text)


def test_the_name_of_a_function_is_no_symbol():
    """``L`` of ``L(w) = …`` is what the formula is called."""
    for text in (r"\mathcal{L}(w) = \|w\|^2", "L(w) = w²", r"\ell(w) = w^2"):
        assert [str(s.name) for s in sg.formula(text).symbols] == ["w"]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (r"\begin{vmatrix} a & b \\ c & d \end{vmatrix}", "a d − b c"),
        (r"\lfloor x \rfloor", "⌊x⌋"),
        ("⌈x⌉", "⌈x⌉"),
        (r"2x \bmod y", "(2 x) mod y"),
        ("2x mod 3", "(2 x) mod 3"),
        (r"\max_i (x_i - y_i)", "max(x − y)"),
        (r"\sum_i \max_j X_{ij}", "𝟏ᵀ [maxⱼ Xᵢⱼ]ᵢ"),
        (r"\tfrac12 \|x\|^2", "‖x‖²/2"),
        (r"\lg x", "log₁₀(x)"),
        ("1/2 x^2", "½ x^⊙2"),
    ],
)
def test_floors_remainders_and_extremes_are_read(text, formula):
    assert sg.formula(text).unicode() == formula


@pytest.mark.parametrize("text", ["a/2σ²", "1/2x", "x/2y", r"e^{-x^2/2\sigma^2}", "a/2 b"])
def test_a_quotient_with_a_factor_beside_it_is_refused(text):
    """In physics it is all of it that is divided by, in programs the first factor."""
    with pytest.raises(sg.errors.FormulaError, match=r"write a/\(2 b\)"):
        sg.formula(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"\arg\max_i x_i", "has no derivative"),
        (r"\nabla f", "wrt="),
        ("∂f/∂x", "wrt="),
        (r"\int_0^1 x dx", "integrals are not read"),
        (r"x \pm y", "with [+] or -"),
        (r"\left. x^2 \right|_{x=1}", "value at a point"),
        (r"x \pmod y", "bmod"),
        (r"A \star B", "no meaning of its own"),
        (r"X^\dagger y", "pseudo-inverse to some"),
        ("", "is an empty text"),
        ("f(x) + 1", "f is no function that is known here"),
        (r"\sigma_1(X)", "sigma_1 is no function"),
        (r"\sum_{i \in S} x_i", "which indices S holds"),
        ("x + 1)", "nothing is open that"),
    ],
)
def test_what_has_several_meanings_or_none_says_what_to_write(text, problem):
    with pytest.raises(sg.errors.FormulaError, match=problem):
        sg.formula(text)


@pytest.mark.parametrize("text", ["xy = 2x", "x y = 2 x"])
def test_a_product_is_no_name_of_the_derivative(text):
    """It was judged to be equal, as g = 2x is."""
    with pytest.raises(sg.errors.SymgradError, match="is no symbol here"):
        sg.judge(text, of="x^2", wrt="x")
    assert not sg.judge("x == 2x", of="x^2", wrt="x")
    assert sg.judge("g = 2x", of="x^2", wrt="x")
