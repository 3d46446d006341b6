r"""Functions in LaTeX as books write them: bold letters, indices, hats, functions without brackets, cases."""

from __future__ import annotations

import pytest

import symgrad as sg

BOOKS = [
    # bold letters are arrays, plain small ones numbers, also d and e
    (r"(\mathbf{B}\mathbf{x}+\mathbf{b})^T\mathbf{C}(\mathbf{D}\mathbf{x}+\mathbf{d})", "x",
     r"B^{\top} C \left(D x + d\right) + D^{\top} C^{\top} \left(B x + b\right)"),
    (r"(\mathbf{w}^\top\mathbf{x} + b - y)^2", "b", r"2 \left(w^{\top} x + b - y\right)"),
    # what stands in a transposed sum beside a vector is one
    (r"\frac12(x-\mu)^\top\Sigma^{-1}(x-\mu)+\frac12\log|\Sigma|", "mu",
     r"-\frac{1}{2} \left(\Sigma^{-1} + \Sigma^{-\top}\right) \left(x - \mu\right)"),
    # rows of a matrix in bold
    (r"\sum_{i=1}^n\log\left(1+e^{-y_i\mathbf{x}_i^\top\mathbf{w}}\right)", "w",
     r"-x^{\top} \left(y \odot \sigma\left(-y \odot x w\right)\right)"),
    (r"\sum_{i=1}^n\max(0,1-y_i\mathbf{w}^\top\mathbf{x}_i)", "w",
     r"-x^{\top} \left(y \odot \operatorname{Heaviside}\left(1 - y \odot x w\right)\right)"),
    (r"\frac{1}{N}\sum_{n=1}^N (t_n-\mathbf{w}^\top\boldsymbol{\phi}_n)^2", "w",
     r"\frac{2}{n} \phi^{\top} \left(\phi w - t\right)"),
    # the letter that a sum runs to is a size
    (r"-\frac{n}{2}\log(2\pi\sigma^2)-\frac{1}{2\sigma^2}\sum_{i=1}^n (x_i-\mu)^2", "mu",
     r"\frac{\mathbf{1}^{\top} x - n \mu}{\sigma^{2}}"),
    (r"\sum_{i=1}^{n}\sum_{j=1}^{n} K_{ij}\alpha_i\alpha_j y_i y_j", "alpha",
     r"y \odot \left(K + K^{\top}\right) \left(\alpha \odot y\right)"),
    # a sum goes on to what has its index
    (r"\sum_{i=1}^n (a-1)\log x_i + (b-1)\log(1-x_i)", "b", r"\mathbf{1}^{\top} \log\left(1 - x\right)"),
    (r"\sum_{i=1}^n x_i^2 + \lambda", "lambda", "1"),
    # functions of sums, exponents
    (r"\log\sum_{i=1}^n \exp(x_i)", "x", r"\operatorname{softmax}\left(x\right)"),
    (r"-\sum_k y_k\log\left(\frac{e^{z_k}}{\sum_j e^{z_j}}\right)", "z",
     r"\left(\mathbf{1}^{\top} y\right) \operatorname{softmax}\left(z\right) - y"),
    (r"A K^\alpha L^{1-\alpha}", "L", None),
    # letters that are functions
    (r"\log\Gamma(\alpha+\beta)-\log\Gamma(\alpha)-\log\Gamma(\beta)", "alpha",
     r"\psi\left(\alpha + \beta\right) - \psi\left(\alpha\right)"),
    (r"S\,\Phi(d)-K\Phi(d-\sigma)", "K", r"-\Phi\left(d - \sigma\right)"),
    # accents
    (r"\frac{1}{2}\dot{q}^\top M\dot{q}", r"\dot{q}", r"\frac{1}{2} \left(M + M^{\top}\right) \dot{q}"),
    (r"\frac{1}{2}m\dot{x}^2-\frac12 k x^2", "x", "-k x"),
    (r"-y\log\hat{y}-(1-y)\log(1-\hat y)", r"\hat y", r"\frac{\hat{y} - y}{\hat{y} \left(1 - \hat{y}\right)}"),
    (r"\frac{1}{n}\sum_{i=1}^n \left(x_i-\bar{x}\right)^2", "x",
     r"\frac{2}{n} \left(x - \frac{\mathbf{1}^{\top} x}{n}\right)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wrt", "latex"), BOOKS, ids=[f"{t} by {w}" for t, w, _ in BOOKS])
def test_a_function_of_a_book_is_read(text, wrt, latex):
    found = sg.latex(text, wrt=wrt)
    assert latex is None or sg.judge(latex, of=text, wrt=wrt)
    assert sg.judge(found, of=text, wrt=wrt)


def test_printed_cases_are_read_by_the_judge():
    text = r"\begin{cases}\frac12 a^2 & |a|\le\delta\\ \delta(|a|-\frac12\delta) & \text{otherwise}\end{cases}"
    found = sg.latex(text, wrt="a", shapes="a= delta=")
    assert found.endswith(r"\end{cases}")
    assert sg.judge(found, of=text, wrt="a", shapes="a= delta=")


def test_eye_of_a_number_states_a_size():
    assert sg.latex("log(det(X.T@X+lam*eye(3)))", wrt="X") == r"2 X \left(X^{\top} X + \lambda I\right)^{-1}"


IDENTITIES = [
    ("log(det(X+I))", "X", r"\left(X + I\right)^{-\top}", "inv(X+I)'"),
    ("log(det(X'*X + lam*I))", "X", r"2 X \left(X^{\top} X + \lambda I\right)^{-1}", "2*X*inv(X'*X + lam*I)"),
    ("norm((I - A)@x)**2", "A", r"2 \left(A - I\right) x x^{\top}", "-2*outer((I - A)@x, x)"),
    ("I**2*R", "I", "2 R I", "2*I*R"),
    ("V - I*R", "R", "-I", "-I"),
    ("norm(U-I)**2", "I", "2 \\left(I - U\\right)", "2*(I - U)"),
]


@pytest.mark.parametrize(("text", "wrt", "latex", "typed"), IDENTITIES, ids=[t for t, *_ in IDENTITIES])
def test_a_lone_I_beside_matrices_is_the_identity(text, wrt, latex, typed):
    stated = {"shapes": "U=n,m I=n,m"} if "U" in text else {}
    assert sg.latex(text, wrt=wrt, **stated) == latex
    assert sg.judge(typed, of=text, wrt=wrt, **stated)


def test_an_identity_by_which_is_differentiated_is_refused_with_advice():
    with pytest.raises(sg.errors.NameProblem, match="I is read as the identity; state its shape"):
        sg.latex("norm(U-I)**2", wrt="I")


def test_a_prime_that_is_no_transpose_is_refused_with_advice():
    """x - x' of the only number x would be 0, and so would be its gradient."""
    for text in (r"\exp(-\gamma\|\mathbf{x}-\mathbf{x}'\|^2)", "norm(x - x')**2"):
        with pytest.raises(sg.errors.FormulaError, match="x' is the transpose of x here.*such as z"):
            sg.latex(text, wrt="x")
    assert sg.latex("norm(X + X')**2", wrt="X") == r"4 \left(X + X^{\top}\right)"
