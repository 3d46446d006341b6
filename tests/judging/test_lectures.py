r"""Answers as students and books write them: 0 for an array, 1 beside a matrix, functions that a text defines."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

OLS = ("norm(A@x-b)**2", "x", "A=m,n x=n b=m")
SQUARE = ("norm(A@x-b)**2", "x", "A=n,n x=n b=n")
LOGIT = ("sum(log(1+exp(X@w)))", "w", "X=n,d w=d")
BARRIER = ("-sum(log(b-A@x))", ("x", "x"), "A=m,n x=n b=m")
BAYES = ("sum((t-Phi@w)**2)/2+lam*sum(w**2)/2", "w", "Phi=N,M t=N w=M lam=")
NOTHING = ("sum(X-X)", "X", "X=m,n")
LINEAR = ("a@x", ("x", "x"), "a=n x=n")
ROWS = ("sum(M@x)", "x", "M=m,n x=n")
TWICE = ("sum(X**2)", "X", "X=m,n")
SOFTMAX = ("softmax(x)", "x", "x=n")
GAUSS = ("log(det(S))/2+x@inv(S)@x/2", "S", "x=n S=n,n")
MICHAELIS = ("Vmax*S/(Km+S)", "S", "Vmax= S= Km=")
SIGMA = ("1/(1+exp(-x))", "x", "x=")
ROWED = ("sum(w*(A@x)*y)", "y", "w=n A=n,n x=n y=n")
ENTRY = ("X[0,1]", "X", "X=m,n")

RIGHT = [
    # zeros
    ("0", "a*sum(y**2)", "x", "x=n y=n a="),
    *((text, *NOTHING) for text in ("0", r"\mathbf{0}", r"0_{m\times n}", r"\mathbf 0_{m\times n}", "O", r"O_{m,n}")),
    *((text, *LINEAR) for text in (r"0_{n\times n}", r"\nabla^2 f = \mathbf{O}", "np.zeros((n,n))")),
    (r"\mathbf{0}_n", "norm(A@y)**2", "x", "A=m,n y=n x=n"),
    ("0_n", "sum(x-x)", "x", "x=n"),
    # the number 1 and the column of ones
    *((text, *TWICE) for text in ("2 X 1", "2 1 X", r"2X\cdot 1")),
    *((text, *ROWS) for text in ("M^T1", "M^T 1", "M'1", "Mᵀ1", r"M^\top1")),
    (r"\frac{2}{n}Hx,\ H=I-\frac1n\mathbf 1\mathbf 1^\top", "mean((x-mean(x))**2)", "x", "x=n"),
    (r"\frac{2}{n}(I-\frac1n11^\top)x", "mean((x-mean(x))**2)", "x", "x=n"),
    # functions that the text defines, or that the derivative is of
    (r"2A^Tr(x), r(x)=Ax-b", *OLS),
    (r"2A^Tr, \quad r(x)=Ax-b", *OLS),
    (r"\sum_i\phi'(w^Tx_i)x_i,\ \phi(z)=\log(1+e^{z})", *LOGIT),
    (r"X^\top\sigma(Xw)\text{ where }\sigma(t)=\frac{1}{1+e^{-t}}", *LOGIT),
    ("X'*phi(X*w), phi(z) = 1/(1+exp(-z))", *LOGIT),
    (r"h(x)(1-h(x)), h(z)=1/(1+e^{-z})", *SIGMA),
    (r"\psi(r)=\tanh(r)", "log(cosh(r))", "r", "r="),
    (r"\phi''(x), \phi(z)=z^4", "4*x**3", "x", "x="),
    (r"g(x, 1), g(u, v) = u v + v", "x**2/2+x", "x", "x="),
    # words and signs around the formula
    *((text, *OLS) for text in (
        r"\[ \boxed{2A^\top(Ax-b)} \]", r"2A^\top\underbrace{(Ax-b)}_{r}", r"2\,{}^t\!A(Ax-b)",
        r"2\underline{A}^T(\underline{A}\underline{x}-\underline{b})", "lambda x: 2*A.T@(A@x-b)",
        "def grad(x): return 2*A.T@(A@x-b)",
        'def grad(A, x, b):\n    """The gradient."""\n    r = A @ x - b  # residual\n    return 2 * A.T @ r',
    )),
    *((text, *OLS) for text in (
        "2 Transpose[A].(A.x - b)", "2*A.'*(A*x-b)", "2*t(A)%*%(A%*%x-b)", "2*crossprod(A, A%*%x-b)",
        "tf.transpose(A) @ (A@x-b) * 2", "np.linalg.multi_dot([A.T, A, x])*2 - 2*A.T@b",
        "2*sum((A[i]@x-b[i])*A[i] for i in range(len(b)))", "2*sum_i (A[i]@x-b[i])*A[i]",
    )),
    ("sum(sum((A[j,k]+A[k,j])*x[k] for k in range(n))*e_j for j in range(n))", "x@A@x", "x", "A=n,n x=n"),
    (r"\frac{m\mathbf v}{\sqrt{1-\mathbf v^2/c^2}}", "-m*c**2*sqrt(1-(v@v)/c**2)", "v", "m= c= v=3"),
    (r"A^T\mathbf{diag}(d)^2A, d_i = 1/(b_i-a_i^Tx)", *BARRIER),
    # loops, statements, and what stands first in R
    ("sum(i*y[i] for i in range(n))", "x*sum(arange(n)*y)", "x", "x= y=n"),
    ("sum(y[i] for i in range(0, n-1))", "x*sum(y[:-1])", "x", "x= y=n"),
    ("def g(x):\n  y = x\n  y += x\n  return y", "sum(x**2)", "x", "x=n"),
    ("y = 2*x\nz = y\ny = 5*x\nreturn z", "sum(x**2)", "x", "x=n"),
    ("w * A %*% x", *ROWED),
    ("w / (A %*% (B %*% x)^2)", "sum((w/(A@(B@x)**2))*y)", "y", "w=n A=n,n x=n y=n B=n,n"),
    ("tcrossprod(y, x)", "y@(A@x)", "A", "A=m,n x=n y=m"),
    (r"\phi^{(2)}(x), \phi(z)=z^4", "4*x**3", "x", "x="),
    # the function beside its derivative
    *((text, "x**2", "x", "x=") for text in (
        "f(x) = x^2, f'(x) = 2x", r"f = x^2, \frac{df}{dx} = 2x", r"f(x) = x^2, \quad f^\prime(x) = 2x",
    )),
    # the end of a sum, and a letter for the function of a network
    *((text, "sum(y)*z", "z", "y=m z=") for text in (
        r"\sum_{i=1}^m y_i", r"\sum_{i=0}^{m-1} y_i", r"\sum_{i=1}^N y_i",
    )),
    (r"2\sum_{i=1}^m(a_i^Tx-b_i)a_i", *OLS),
    *((text, "sum(tanh(W@x))", "W", "W=m,n x=n") for text in (
        r"\phi'(Wx) x^T", "f'(Wx) x^T", "phi'(W*x)*x'", r"(1-\phi(Wx)^2) x^T", r"\sigma'(Wx)x^\top",
    )),
    (r"\sum_i\phi'(w^Tx_i) x_i", "sum(sigmoid(X@w))", "w", "X=n,d w=d"),
    # e that a text defines is no number
    *((text, "x**2", "x", "x=") for text in ("e*x, e = 2", r"e x,\ e=2", "2*r*x, r = e/2, e = 2")),
    # functions beside their arguments
    *((text, "sin(x)**2", "x", "x=") for text in ("2sinxcosx", "sin2x", "2sinx cosx", "2 sin(x)cosx")),
    *((text, "x*sin(x)", "x", "x=") for text in ("sinx + xcosx", "xcosx+sinx")),
    *((text, "x*log(x)", "x", "x=") for text in ("lnx+1", "1+lnx")),
    # 1 before a row, and squares that are lengths
    *((text, "sum(A@x)", "A", "A=n,m x=m") for text in (r"1 x^\top", "1x'", r"1 \cdot 1x^\top")),
    *((text, "norm(x)**4", "x", "x=n") for text in ("4 x^2 x", "4x²x", "4 |x|^2 x")),
    # names
    (r"\lambda\mathbf w-\sum_{n=1}^N\{t_n-\mathbf w^T\phi_n\}\phi_n", *BAYES),
    ("½(Σ⁻¹ − Σ⁻¹xxᵀΣ⁻¹)", *GAUSS),
    ("(inv(Sigma) - inv(Sigma)*x*x'*inv(Sigma))/2", *GAUSS),
    (r"\frac{V_{max}K_m}{(K_m+S)^2}", *MICHAELIS),
    (r"\frac{V_{\max}K_m}{(K_m+S)^2}", *MICHAELIS),
    (r"\frac{V_{\text{max}}K_m}{(K_m+S)^2}", *MICHAELIS),
    (r"\hbar\omega/2", "hbar*omega*x/2", "x", "hbar= omega= x="),
    ("m-p_xx-p_yy", "lam*(m-p_x*x-p_y*y)", "lam", "x= y= lam= p_x= p_y= m="),
    ("e_1", "x[0]", "x", "x=n"),
    (r"e_1e_2^\top", *ENTRY),
    # conditions on indices
    (r"\frac{\partial s_i}{\partial x_j}=\begin{cases}s_i(1-s_i)&i=j\\-s_is_j&i\ne j\end{cases}", *SOFTMAX),
    (r"s_i[i=j] - s_is_j, s=\mathrm{softmax}(x)", *SOFTMAX),
]  # fmt: skip
WRONG = [
    (r"2\sum_{i=1}^n(a_i^Tx-b_i)a_i", *OLS),
    (r"\sum_{i=1}^{m-1} y_i", "sum(y)*z", "z", "y=m z="),
    ("2*sum((A[i]@x-b[i])*A[i] for i in range(1, len(b)))", *OLS),
    ("def g(x):\n  y = 2*x\n  if x > 0:\n    y = 3\n  return y", "x**2", "x", "x="),
    (r"\sum_{i=1}^N\sum_{j=1}^N A_{ij}", "z*sum(A)", "z", "A=m,n z="),
    (r"\phi(Wx) x^T", "sum(tanh(W@x))", "W", "W=m,n x=n"),
    (r"(1-\sigma(Wx))\sigma(Wx) x^T", "sum(tanh(W@x))", "W", "W=m,n x=n"),
    (r"2 x^\top", "sum(A@x)", "A", "A=n,m x=m"),
    *((text, "sin(x)**2", "x", "x=") for text in ("sinxcosx", "cos2x", "2sin2x")),
    # e that a text defines is no number
    ("e*x, e = 3", "x**2", "x", "x="),
    *((text, "norm(x)**4", "x", "x=n") for text in ("4x^2", "4 x^3", "4*x**2*x", "4*x*x**2")),
    ("0", "a@x", "x", "a=n x=n"),
    ("O", *OLS),
    (r"\frac{2}{n}Hx,\ H=I-\frac{1}{n^2}\mathbf 1\mathbf 1^\top", "mean((x-mean(x))**2)", "x", "x=n"),
    (r"0_n", "sum(X-X)", "X", "X=n,n"),
    ("X 1", *TWICE),
    ("M 1", "sum(M@x)", "x", "M=n,n x=n"),
    (r"2A^Tr(b), r(x)=Ax-b", *SQUARE),
    (r"\sum_i\phi(w^Tx_i)x_i,\ \phi(z)=\log(1+e^{z})", *LOGIT),
    (r"X^\top\sigma(Xw)\text{ where }\sigma(t)=\frac{1}{1+e^{t}}", *LOGIT),
    (r"h(x)(1+h(x)), h(z)=1/(1+e^{-z})", *SIGMA),
    (r"\psi(r)=\tanh(2r)", "log(cosh(r))", "r", "r="),
    (r"\phi'(x), \phi(z)=z^4", "4*x**3", "x", "x="),
    ("lambda x: 2*A@(A@x-b)", *SQUARE),
    ("2*A%*%(A%*%x-b)", *SQUARE),
    ("2*sum((A[i]@x-b[i])*A[i] for i in range(len(x)))", "norm(A.T@x-b)**2", "x", "A=n,n x=n b=n"),
    (r"m\mathbf v\sqrt{1-\mathbf v^2/c^2}", "-m*c**2*sqrt(1-(v@v)/c**2)", "v", "m= c= v=3"),
    (r"\frac{V_{max}S}{(K_m+S)^2}", *MICHAELIS),
    ("½(Σ⁻¹ + Σ⁻¹xxᵀΣ⁻¹)", *GAUSS),
    (r"e_2e_1^\top", "X[0,1]", "X", "X=n,n"),
    ("sum(2*x[i]*e_i for i in range(n-1))", "sum(x**2)", "x", "x=n"),
    ("sum(y[i] for i in range(n-1))", "x*sum(y)", "x", "x= y=n"),
    ("sum(i*y[i] for i in range(n))", "x*sum((arange(n)+1)*y)", "x", "x= y=n"),
    ("def g(x):\n  y = 2*x\n  y += 5*x\n  return y", "sum(x**2)", "x", "x=n"),
    *((text, "x**2", "x", "x=") for text in ("f(x) = x^2, f'(x) = 3x", r"f = x^2, \frac{df}{dx} = x^2")),
    ("y = 2*x\ny *= 5\ny", "sum(x**2)", "x", "x=n"),
    ("y = 2*x\nz = y\ny = 5*x\nreturn z", "sum(5*x**2)/2", "x", "x=n"),
    ("w * A %*% x", "sum((A@(w*x))*y)", "y", "w=n A=n,n x=n y=n"),
    (r"\phi^{(2)}(x), \phi(z)=z^4", "x**9/9", "x", "x="),
    (r"s_i[i=j] + s_is_j, s=\mathrm{softmax}(x)", *SOFTMAX),
]


UNREAD = [
    ("2*sum((A[i]@x-b[i])*A[i] for i in range(0, len(b), 2))", OLS, r"a loop runs over range\(n\)"),
    ("2*sum((A[i]@x-b[i])*A[i] for i in range(len(b))", OLS, "'for i in range"),
    ("2*sum((A[i]@x-b[i])*A[i] for i in range(3))", OLS, "its size is a letter"),
    ("def g(x):\n  y = 2*x\n  while x > 0:\n    y = 3\n  return y", ("sum(x**2)", "x", "x=n"), "'while x > 0:'"),
    ("y = A'(Ax-b); y = 2y; y", ("norm(A@x-b)**2/2", "x", "A=m,n x=n b=m"), "y is defined twice"),
    (r"2A^\top(Ax-b), b = 0", OLS, "b is a symbol of the function"),
    (r"-kq\mathbf r/r^3, r=\|\mathbf r\|", ("k*q/norm(r)", "r", "r=3 k= q="), "r is a symbol of the function"),
    (r"\phi^{-1}(x), \phi(z)=e^z", ("-exp(-x)", "x", "x="), "inverse function"),
]


@pytest.mark.parametrize(("text", "case", "words"), UNREAD)
def test_a_text_with_more_than_is_read_is_refused(text, case, words):
    """It was read without that, so that wrong answers were EQUAL."""
    of, wrt, shapes = case
    with pytest.raises(sg.errors.FormulaError, match=words):
        sg.judge(text, of=of, wrt=wrt, shapes=shapes)


@pytest.mark.parametrize(("text", "of", "wrt", "shapes"), RIGHT)
def test_a_right_answer_is_equal(text, of, wrt, shapes):
    assume = {"S": "symmetric"} if "S=n,n" in shapes else {}
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes, assume=assume).equal


@pytest.mark.parametrize(("text", "of", "wrt", "shapes"), WRONG)
def test_a_wrong_answer_is_different(text, of, wrt, shapes):
    assume = {"S": "symmetric"} if "S=n,n" in shapes else {}
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes, assume=assume).verdict == "DIFFERENT"


def phi(x):
    return 1 / (1 + sg.exp(-x))


def psi(x):
    return sg.exp(-(x**2) / 2)


def sigma(x):
    return sg.tanh(x)


OWN = [
    (phi, r"\phi(x)(1-\phi(x))"),
    (phi, "phi(x)*(1-phi(x))"),
    (phi, "φ(x)(1−φ(x))"),
    (phi, r"\phi'(x) = \phi(x)(1-\phi(x))"),
    (phi, r"\frac{d\phi}{dx} = \phi(1-\phi)"),
    (sigma, r"1-\sigma^2(x)"),
    (sigma, r"1-\sigma(x)^2"),
    (psi, r"-x\psi(x)"),
    (psi, r"\psi'(x) = -x\psi(x)"),
]


@pytest.mark.parametrize(("of", "text"), OWN)
def test_a_function_named_by_a_letter_of_books_is_itself(of, text):
    """Whatever the letter means elsewhere: φ is the normal density, ψ is digamma, σ the logistic function."""
    assert sg.judge(text, np.array(0.3), of=of, wrt="x").equal
    assert sg.judge(f"2({text.partition('=')[2] or text})", np.array(0.3), of=of, wrt="x").verdict == "DIFFERENT"


def test_a_text_whose_shapes_fit_at_one_size_alone_is_not_right():
    found = sg.judge("a.reshape(-1,1) @ b.reshape(1,1)", of="a@X@b", wrt="X", shapes="a=m b=n X=m,n")
    assert found.verdict == "UNDECIDED"
    assert found.notes == ["the text has a value where n is 1 alone; its shapes fit at no other size."]


def test_a_letter_at_which_a_sum_ends_is_said():
    found = sg.judge(r"\sum_{i=1}^N y_i", of="sum(y)*z", wrt="z", shapes="y=m z=")
    assert found.notes == ["N, at which a sum ends, is read as m."]
    found = sg.judge(r"2\sum_{i=1}^n(a_i^Tx-b_i)a_i", of=OLS[0], wrt="x", shapes=OLS[2])
    assert "the sum over i ends at n, and what it adds up has m entries along i" in found.diagnosis.sentence
    assert sg.judge(r"\phi'(Wx)x^T", of="sum(tanh(W@x))", wrt="W").notes == [r"\phi is read as tanh."]
