"""Values whose shapes nobody states: numbers with gradients, or arrays with Jacobians, as their names suggest."""

import pytest

import symgrad as sg


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        ("W", "W@x", "x"),
        ("diag(1-tanh(W@x+b)**2)@W", "tanh(W@x+b)", "x"),
        ("diag(W@x+b>0)", "relu(W@x+b)", "b"),
        ("I-A", "x-A@x", "x"),
        ("I", "A@x+b", "b"),
        ("diag(softmax(x))-outer(softmax(x),softmax(x))", "softmax(x)", "x"),
        # of a number, if that is what fits
        ("2*X", "X**2", "X"),
        ("X", "a*X", "a"),
        ("cos(x)", "sin(x)", "x"),
        ("2*x", "x@x", "x"),
        ("-1/x**2", "1/x", "x"),
    ],
)
def test_right_ones(text, of, wrt):
    assert sg.judge(text, of=of, wrt=wrt)


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"B^\top\otimes A", "A@X@B", "X"),
        (r"-X^{-\top}\otimes X^{-1}", "X^{-1}", "X"),
        (r"I\otimes X + X^T\otimes I", "X@X", "X"),
        (r"I \otimes A", "A@X", "X"),
        (r"x^\top\otimes I", "A@x", "A"),
        (r"x^\top\otimes A", "A X x", "X"),
    ],
)
def test_jacobians_by_stacked_columns(text, of, wrt):
    verdict = sg.judge(text, of=of, wrt=wrt)
    assert verdict
    assert f"the text is the Jacobian of vec f by vec {wrt}, where vec stacks columns." in verdict.notes


@pytest.mark.parametrize("text", [r"(B \otimes A^T) \operatorname{vec}(I)", "(B ⊗ A^T) vec(I)"])
def test_an_identity_in_brackets_has_the_size_that_fits(text):
    verdict = sg.judge(text, of="tr(A@X@B)", wrt="X")
    assert verdict
    assert "I is read as I_n." in verdict.notes
    assert not sg.judge(r"(B \otimes A) \operatorname{vec}(I)", of="tr(A@X@B)", wrt="X")


@pytest.mark.parametrize(
    ("text", "of", "wrt", "mistake"),
    [
        (r"I\otimes X - X^T\otimes I", "X@X", "X", ""),
        (r"B\otimes A^\top", "A@X@B", "X", "The formula is the transpose of the exact one."),
        (r"2(B^\top\otimes A)", "A@X@B", "X", "The formula is 2 times the exact one."),
        ("diag(softmax(x))", "softmax(x)", "x", ""),
    ],
)
def test_wrong_ones(text, of, wrt, mistake):
    verdict = sg.judge(text, of=of, wrt=wrt)
    assert verdict.verdict == "DIFFERENT"
    assert verdict.theirs.shape == verdict.ours.shape[::-1] or verdict.theirs.shape == verdict.ours.shape
    assert mistake in verdict.diagnosis.sentence


def test_a_diagonal_matrix_of_a_number_is_told():
    found = sg.judge("w * diag(1-tanh(w@x)**2)", of="tanh(w @ x)", wrt="x", shapes="w=n x=n")
    assert not found
    assert "diag() of a number: it takes a vector" in str(found)


def test_shapes_of_ones_are_lists_beside_identities_with_a_size():
    assert sg.judge("I_m - ones((m, m))/m", of="x - mean(x)", wrt="x", shapes="x=m")


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"A\otimes B^\top", "A@X@B", "X"),
        ("np.kron(A, B.T)", "A@X@B", "X"),
        (r"I_n \otimes x^\top", "W@x", "W"),
        (r"2 I_n \otimes (V^\top V)", "norm(T-U@V.T)**2", ("U", "U")),
        (r"2 I_n \otimes V^\top V", "norm(T-U@V.T)**2", ("U", "U")),
        ("X.flatten()", "norm(X)**2/2", "X"),
    ],
)
def test_jacobians_by_stacked_rows(text, of, wrt):
    (note,) = (note for note in sg.judge(text, of=of, wrt=wrt).notes if "vec" in note)
    assert note.endswith("where vec stacks rows.")


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"\operatorname{vec}(A)", "trace(A.T@X)", "X"),
        (r"\mathrm{vec}(2X)^T", "norm(X)**2", "X"),
        (r"2 V^\top V \otimes I_n", "norm(T-U@V.T)**2", ("U", "U")),
        (r"B^\top \otimes A A", "A@A@X@B", "X"),
        (r"K_{nm}", "X.T", "X"),
        (r"K_{mn}(B^\top \otimes A)", "(A@X@B).T", "X"),
        (r"(I_{n^2} + K_n)(I \otimes X^\top)", "X.T@X", "X"),
        ("kron(I_m, A)", "A@X", "X"),
        ("kron(I, A)", "A@X", "X"),
    ],
)
def test_vec_and_the_commutation_matrix(text, of, wrt):
    verdict = sg.judge(text, of=of, wrt=wrt)
    assert verdict
    assert any("where vec stacks columns." in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"A_{ik}B_{lj}", "A@X@B", "X"),
        (r"\frac{\partial Y_{ij}}{\partial X_{mn}} = \delta_{im} B_{nj}", "X@B", "X"),
        (r"-(X^{-1})_{ik} (X^{-1})_{lj}", "inv(X)", "X"),
        (r"\frac{\partial F_{kl}}{\partial X_{ij}} = -(X^{-1})_{ki} (X^{-1})_{jl}", "inv(X)", "X"),
        ("np.einsum('ik,lj->ijkl', A, B)", "A@X@B", "X"),
    ],
)
def test_jacobians_of_four_indices(text, of, wrt):
    assert sg.judge(text, of=of, wrt=wrt)


@pytest.mark.parametrize(
    ("text", "of", "wrt"),
    [
        (r"df = 2(Ax-b)^\top A dx", "norm(A@x-b)**2", "x"),
        (r"\mathrm{d}f = \operatorname{tr}(X^{-1} \,\mathrm{d}X)", "log(det(X))", "X"),
        (r"dF = -X^{-1} dX X^{-1}", "inv(X)", "X"),
        (r"df = \sum_{i=1}^m (a_i^\top x - b_i) a_i^\top dx", "norm(A@x-b)**2/2", "x"),
        ("df = trace(X.T@dX)*2", "norm(X)**2", "X"),
        (r"\frac{dy}{dx} = 2x", "x**2", "x"),
        (r"df = X^{-\top} : dX", "log(det(X))", "X"),
        (r"d\operatorname{vec}F = (B^\top\otimes A)\,d\operatorname{vec}X", "A@X@B", "X"),
    ],
)
def test_differentials_state_a_derivative(text, of, wrt):
    """They were read as products with a number d, and called wrong."""
    assert sg.judge(text, of=of, wrt=wrt)
    half = sg.judge(text.replace("=", r"= \frac{1}{2}" if "\\" in text else "= 1/2*", 1), of=of, wrt=wrt)
    assert not half
    assert "1/2 times" in half.diagnosis.sentence


@pytest.mark.parametrize(
    ("text", "of", "wrt", "layout"),
    [
        ("W.T", "W@x", "x", "denominator"),
        ("A.T @ diag(cos(A@x))", "sin(A@x)", "x", "denominator"),
        (r"2(XW-Y)^\top X", "norm(X@W-Y)**2", "W", "numerator"),
        ("B.T", "tr(X.T@B)", "X", "numerator"),
        (r"b a^\top", "a.T@X@b", "X", "numerator"),
    ],
)
def test_the_other_layout_is_right_where_shapes_tell_it_apart(text, of, wrt, layout):
    shapes = "X=n,m W=m,k Y=n,k" if wrt == "W" else None
    verdict = sg.judge(text, of=of, wrt=wrt, shapes=shapes)
    assert verdict.equal, verdict
    assert f"in the {layout} layout" in str(verdict)
    for asked in ("numerator", "denominator", "mixed"):
        again = sg.judge(text, of=of, wrt=wrt, shapes=shapes, layout=asked)
        assert again.equal == (asked == layout), again
        assert "layout" not in " ".join(again.notes)


def test_of_square_matrices_the_layout_is_asked_for():
    verdict = sg.judge("inv(X)", of="log(det(X))", wrt="X")
    assert verdict.verdict == "DIFFERENT"
    assert "numerator layout" in str(verdict)
    assert "layout= says so" in str(verdict)
    assert sg.judge("inv(X)", of="log(det(X))", wrt="X", layout="numerator").equal
    assert not sg.judge("inv(X).T", of="log(det(X))", wrt="X", layout="numerator").equal


def test_mistakes_are_named_in_the_layout_of_the_text():
    verdict = sg.judge(r"(XW-Y)^\top X", of="norm(X@W-Y)**2", wrt="W", shapes="X=n,m W=m,k Y=n,k")
    assert verdict.diagnosis.sentence == "The formula is 1/2 times the exact one."
    assert "in the numerator layout" in str(verdict)


def test_layouts_have_names():
    with pytest.raises(sg.errors.ArgumentError, match="mixed, numerator, denominator"):
        sg.judge("W.T", of="W@x", wrt="x", layout="upside down")
