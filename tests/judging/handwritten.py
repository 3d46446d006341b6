r"""Formulas as people write them by hand, in LaTeX, NumPy's and SymPy's notation.

By function and variable: (function, variable, shapes), then the ways to write its derivative, all of them right.
"""

LATEX = [
    (("norm(A@x-b)**2", "x", "A=m,n x=n b=m"), [
        r"2 \mathbf{A}^{\mathsf T}(\mathbf{A}\mathbf{x} - \mathbf{b})",
        r"2\,\bm{A}^\intercal\big(\bm{A}\bm{x}-\bm{b}\big)",
        r"2\boldsymbol{A}^{\mathrm{T}}\left[\boldsymbol{A}\boldsymbol{x}-\boldsymbol{b}\right]",
        r"\nabla_x \|Ax-b\|_2^2 = 2A^T(Ax-b)", r"\nabla_{x} f(x) = 2 A^{\top} A x - 2 A^{\top} b",
        r"\frac{\partial f}{\partial x} = 2A^{T}\{Ax-b\}", r"\frac{\mathrm{d} f}{\mathrm{d} x} = 2 A' (A x - b)",
        r"$$2 A^\top \Bigl( A x - b \Bigr)$$", r"\[ 2 A^\top ( A x - b ) \]",
        r"\begin{equation} 2A^\top(Ax-b) \end{equation}", r"\begin{align*} \nabla f &= 2A^\top(Ax-b) \end{align*}",
        r"\begin{aligned} \nabla f &= 2A^\top A x - 2A^\top b \\ &= 2A^\top(Ax-b) \end{aligned}",
        r"\nabla f(x) = 2 A^\top A x - 2 A^\top b = 2A^\top(Ax-b)", r"2 A^\top (Ax-b).", r"2 (Ax-b)^\top A",
        r"\left(2 (Ax-b)^\top A\right)^\top", r"2\sum_{i=1}^{m} (a_i^\top x - b_i) a_i",
        r"2\sum_{i=1}^{m} a_i (a_i^\top x - b_i)", r"2\sum_{i=1}^{m} (\langle a_i, x\rangle - b_i)\, a_i",
        r"2\sum_i (A_{i:} x - b_i) A_{i:}^\top", r"2\sum_i (A_{i,:}\, x - b_i) A_{i,:}^\top",
        r"\left[\nabla f\right]_j = 2\sum_i A_{ij}\left(\sum_k A_{ik}x_k - b_i\right)",
        r"(\nabla f)_j = 2\sum_i A_{ij}(Ax - b)_i", r"\frac{\partial f}{\partial x_j} = 2\sum_i A_{ij}(Ax - b)_i",
        r"2A_{:j}^\top(Ax-b)", r"2 A^\top r,\ \text{where } r = Ax-b", r"2 A^\top r \quad\text{with}\quad r := Ax-b",
        r"2 A^\top r \text{ where } r = Ax-b",
    ]),
    (("sum((A@x-b)**2)/2", "x", "A=m,n x=n b=m"), [
        r"A^\top A x - A^\top b", r"\mathbf{A}^{\!\top}(\mathbf{A}\mathbf{x}-\mathbf{b})",
    ]),
    (("sum((A@x-b)**2)/(2*m)", "x", "A=m,n x=n b=m"), [
        r"\frac1m A^\top(Ax-b)", r"\frac{1}{m}\sum_{i=1}^m (a_i^\top x - b_i)a_i",
    ]),
    (("sum((A@x-b)**2)/2 + lam/2*sum(x**2)", "x", "A=m,n x=n b=m lam="), [
        r"A^\top(Ax-b)+\lambda x", r"(A^\top A+\lambda I)x - A^\top b", r"(A^\top A+\lambda I_n)x - A^\top b",
        r"(A^\top A+\lambda \mathbb{I})x - A^\top b",
    ]),
    (("sum((A@x-b)**2)/2 + lam/2*sum(x**2)", ("x", "x"), "A=m,n x=n b=m lam="), [
        r"A^\top A+\lambda \mathbf{I}", r"\nabla^2 f(x) = A^\top A+\lambda \mathrm{Id}",
        r"\frac{\partial^2 f}{\partial x\,\partial x^\top} = A^\top A+\lambda \mathbb{1}",
    ]),
    (("sum(log(1+exp(-y*(X@w))))", "w", "X=n,d w=d y=n"), [
        r"-\sum_{i=1}^n \sigma(-y_i x_i^\top w) y_i x_i", r"-\sum_{i=1}^n \frac{y_i x_i}{1+e^{y_i w^\top x_i}}",
        r"-\sum_{i} \frac{y_i \exp(-y_i\langle w,x_i\rangle)}{1+\exp(-y_i\langle w, x_i\rangle)} x_i",
        r"-X^\top (y\circ\sigma(-y\circ Xw))", r"-X^\top \mathrm{diag}(y)\,\sigma(-\operatorname{diag}(y)Xw)",
    ]),
    (("sum(log(1+exp(X@w))) - y@(X@w)", "w", "X=n,d w=d y=n"), [
        r"X^\top(p-y),\quad p = \frac{1}{1+e^{-Xw}}", r"\sum_{i=1}^n(\sigma(w^\top x_i)-y_i)x_i",
        r"X^\top(\hat y-y),\ \hat{y} = \sigma(Xw)",
    ]),
    (("sum(log(1+exp(X@w))) - y@(X@w)", ("w", "w"), "X=n,d w=d y=n"), [
        r"\sum_i \sigma(w^Tx_i)(1-\sigma(w^Tx_i))x_ix_i^T",
        r"X^\top S X,\quad S = \text{diag}(p\odot(1-p)),\ p=\sigma(Xw)",
        r"X^\top\text{Diag}\big(\sigma(Xw)\odot(\mathbb{1}-\sigma(Xw))\big)X",
    ]),
    (("x@A@x", "x", "A=n,n x=n"), [
        r"(A+A^\top)x", r"\left(\mathbf A+\mathbf A^\top\right)\mathbf x", r"\sum_j (A_{ij}+A_{ji})x_j",
        r"\sum_j (a_{ij}+a_{ji})x_j", r"\partial_k f = A_{kj}x_j + A_{ik}x_i",
    ]),
    (("x@A@x", "A", "A=n,n x=n"), [
        r"xx^\top", r"x \otimes x", "x_i x_j",
    ]),
    (("log(det(X))", "X", "X=n,n"), [
        r"X^{-\top}", r"(X^{-1})^\top", r"\left(X^\top\right)^{-1}", "X^{-T}",
        r"\frac{1}{\det X}\operatorname{adj}(X)^\top", "(X^{-1})_{ji}",
    ]),
    (("det(X)", "X", "X=n,n"), [
        "|X| X^{-T}", r"\det(\mathbf{X})\,(\mathbf{X}^{-1})^{\mathsf{T}}", r"\lvert X\rvert X^{-\mathsf{T}}",
    ]),
    (("trace(A@X@B)", "X", "A=m,n X=n,p B=p,m"), [
        r"A^\top B^\top", r"(BA)^\top",
    ]),
    (("trace(X.T@A@X)", "X", "A=n,n X=n,p"), [
        "AX+A^TX", r"(\mathbf{A}+\mathbf{A}^{T})\mathbf{X}",
    ]),
    (("trace(inv(X)@A)", "X", "A=n,n X=n,n"), [
        r"-X^{-\top}A^\top X^{-\top}", "-(X^{-1}AX^{-1})^T",
    ]),
    (("sqrt(sum(X**2))", "X", "X=n,m"), [
        r"\frac{X}{\left\|X\right\|_F}", r"X/\|X\|_{\mathrm F}", r"X / \sqrt{\Tr(X^\top X)}",
        r"\frac{X}{\sqrt{\mathrm{tr}(X^\top X)}}",
    ]),
    (("sqrt(sum(x**2))", "x", "x=n"), [
        r"\frac{\vec{x}}{\|\vec{x}\|}",
    ]),
    (("sqrt(sum(x**2))", ("x", "x"), "x=n"), [
        r"\frac{1}{\|x\|}\left(I - \frac{xx^\top}{\|x\|^2}\right)",
        r"\frac{\delta_{ij}}{\|x\|} - \frac{x_i x_j}{\|x\|^3}",
    ]),
    (("log(sum(exp(x)))", "x", "x=n"), [
        r"\mathrm{softmax}(x)", r"\frac{\exp(x)}{\mathbf{1}^\top\exp(x)}", r"\frac{e^{x_i}}{\sum_{j=1}^n e^{x_j}}",
        r"\frac{\exp x_i}{\sum_{j} \exp x_j}",
        r"p,\quad p_i = \frac{\exp(x_i)}{\sum_{j=1}^n\exp(x_j)},\quad i=1,\dots,n",
    ]),
    (("log(sum(exp(x)))", ("x", "x"), "x=n"), [
        r"p_i(\delta_{ij}-p_j), \quad p_i = \frac{e^{x_i}}{\sum_k e^{x_k}}",
        r"\mathrm{diag}(p) - pp^\top, \quad p = \mathrm{softmax}(x)",
    ]),
    (("sum(x*log(x))", "x", "x=n"), [
        r"\log x + \mathbf{1}", r"1+\ln x_i", r"\mathbb{1}+\ln(x)", r"\boldsymbol{1}+\ln(x)",
    ]),
    (("sum(x)**2", "x", "x=n"), [
        r"2(\mathbf{1}^\top x)\mathbf{1}", r"2\,\mathbf{1}\mathbf{1}^\top x", r"2\left(\sum_j x_j\right) e",
    ]),
    (("sum((X-U@V.T)**2)", "U", "X=n,m U=n,r V=m,r"), [
        r"-2(X-UV^\top)V",
    ]),
    (("sum((X-U@V.T)**2)", "V", "X=n,m U=n,r V=m,r"), [
        r"-2(X-UV^\top)^\top U",
    ]),
    (("sum(W*(X-U@V.T)**2)", "U", "X=n,m U=n,r V=m,r W=n,m"), [
        r"-2\big(W\circ(X-UV^{\mathsf T})\big)V",
    ]),
    (("sum(relu(W@x+b))", "W", "W=m,n x=n b=m"), [
        r"\mathbb{1}[Wx+b>0]\,x^\top", r"\mathbf{1}_{\{Wx+b>0\}}\,x^\top", r"\mathbb{I}(Wx+b>0)x^\top",
    ]),
    (("sum(tanh(W@x+b))", "W", "W=m,n x=n b=m"), [
        r"\left(1-\tanh^2(Wx+b)\right)x^\top", r"\operatorname{sech}^2(Wx+b)\,x^\top",
    ]),
    (("sum(sigmoid(W@x+b))", "W", "W=m,n x=n b=m"), [
        r"\left(\sigma'(Wx+b)\right)x^\top", r"\left(\sigma(z)\odot(1-\sigma(z))\right)x^\top,\quad z=Wx+b",
    ]),
    (("sum(sigmoid(W@x+b))", "b", "W=m,n x=n b=m"), [
        r"\sigma(z)\odot(1-\sigma(z)),\quad z=Wx+b",
    ]),
    (("sum((x-y)**2)/2", "x", "x=n y=n"), [
        "x-y",
    ]),
    (("exp(-norm(x-y)**2/(2*s**2))", "x", "x=n y=n s="), [
        r"-\frac{x-y}{s^2}\exp\left(-\frac{\|x-y\|^2}{2s^2}\right)",
    ]),
    (("exp(-norm(x-y)**2/(2*sigma**2))", "x", "x=n y=n sigma="), [
        r"-\frac{x-y}{\sigma^2}\exp\!\left(-\frac{\lVert x-y\rVert^2}{2\sigma^2}\right)",
    ]),
    (("norm(x-y)", "x", "x=n y=n"), [
        r"\frac{x-y}{\lVert x-y\rVert_2}", r"\frac{x_i-y_i}{\sqrt{\sum_k (x_k-y_k)^2}}",
    ]),
    (("sum(abs(x))", "x", "x=n"), [
        r"\mathrm{sgn}(x)", r"\operatorname{sign}(x_i)", r"\frac{x}{|x|}",
    ]),
    (("a@X@b", "X", "a=n X=n,m b=m"), [
        r"ab^\top", r"a\otimes b", "a_i b_j", r"\frac{\partial f}{\partial X_{ji}} = a_j b_i",
    ]),
    (("a@inv(X)@b", "X", "a=n X=n,n b=n"), [
        r"-X^{-\top}ab^\top X^{-\top}",
    ]),
    (("x@y/(norm(x)*norm(y))", "x", "x=n y=n"), [
        r"\frac{y}{\|x\|\|y\|} - \frac{x^\top y}{\|x\|^3\|y\|}x",
        r"\frac{1}{\|x\|}(\hat y - (\hat x^\top\hat y)\hat x),\ \hat x=\frac{x}{\|x\|},\ \hat y = \frac{y}{\|y\|}",
        r"\frac{y}{\|x\|\|y\|} - \frac{\langle x, y\rangle}{\|x\|^3\|y\|}x",
    ]),
    (("(x@A@x)/(x@x)", "x", "x=n A=n,n"), [
        r"\frac{(A+A^\top)x}{x^\top x} - \frac{2x^\top A x}{(x^\top x)^2}x",
        r"\frac{(A+A^\top)x}{\|x\|^2} - \frac{2\langle x, Ax\rangle}{\|x\|^4}x",
    ]),
    (("sum(A*B)", "A", "A=n,m B=n,m"), [
        "B", "B_{ij}",
    ]),
    (("sum((A*B)**2)", "A", "A=n,m B=n,m"), [
        r"2A\odot B^{\circ 2}", r"2 A \odot B \odot B",
    ]),
    (("sum(x**3)", "x", "x=n"), [
        r"3x^{\odot 2}", r"3 x \circ x", "3x^2", r"3\,\mathrm{diag}(x)x",
    ]),
    (("sum(x**3)", ("x", "x"), "x=n"), [
        r"6\operatorname{diag}(x)", r"6x_i\delta_{ij}", r"6\sum_i x_i e_ie_i^\top",
    ]),
    (("sum((x[1:]-x[:-1])**2)", "x", "x=n"), [
        "2(2x_i - x_{i-1}-x_{i+1})", r"2\left(-x_{i+1}+2x_{i}-x_{i-1}\right), \quad 1<i<n",
    ]),
    (("sin(x)*cos(x)", "x", "x="), [
        r"\cos^2 x - \sin^2 x", r"\cos 2x",
    ]),
    (("exp(x**2)", "x", "x="), [
        r"2x\mathrm{e}^{x^2}", "2x e^{x^2}", r"2x\exp(x^2)",
    ]),
    (("log(x)/x", "x", "x="), [
        r"\frac{1-\ln x}{x^2}", r"x^{-2}(1-\log x)",
    ]),
    (("atan(x/y)", "x", "x= y="), [
        r"\dfrac{y}{x^2+y^2}",
    ]),
    (("sqrt(1+x**2)", "x", "x="), [
        r"\frac{x}{\sqrt{1+x^2}}", r"x(1+x^2)^{-\frac{1}{2}}", r"{x \over \sqrt{1+x^2}}",
    ]),
    (("1/(1+exp(-x))", "x", "x="), [
        r"\sigma(x)(1-\sigma(x))", r"\frac{e^{-x}}{(1+e^{-x})^2}", r"\sigma(x)\,[1-\sigma(x)]",
    ]),
    (("x**n", "x", "x= n="), [
        "n x^{n-1}",
    ]),
    (("a**x", "x", "x= a="), [
        r"a^x\ln a",
    ]),
    (("sum(log(a@x + b))", "x", "x=n a=m,n b=m"), [
        r"a^\top (1/(ax+b))",
    ]),
    (("x@A@y", "A", "x=n A=n,m y=m"), [
        r"x y^{\mathsf{T}}",
    ]),
    (("norm(x)**4", "x", "x=n"), [
        r"4\|x\|^2 x", r"4\left\Vert x\right\Vert_2^2 x", r"4 (x\cdot x)\, x", r"4 \lVert x \rVert^{2}\, x",
    ]),
    (("log(det(A@A.T))", "A", "A=m,n"), [
        r"2(AA^\top)^{-1}A", r"2(A^+)^\top", r"2(A^{\dagger})^\top",
    ]),
    (("trace(S@inv(Sigma)) + log(det(Sigma))", "Sigma", "S=n,n Sigma=n,n"), [
        r"\Sigma^{-\top} - \Sigma^{-\top}S^\top\Sigma^{-\top}",
    ]),
    (("(x-mu)@inv(Sigma)@(x-mu)", "mu", "x=n mu=n Sigma=n,n"), [
        r"-(\Sigma^{-1}+\Sigma^{-\top})(x-\mu)",
        r"-(\boldsymbol{\Sigma}^{-1}+\boldsymbol{\Sigma}^{-\top})(\mathbf{x}-\boldsymbol{\mu})",
    ]),
    (("sum(X@w)", "w", "X=n,d w=d"), [
        r"\sum_{i=1}^n x_i", r"X^\top \mathbf 1_n",
    ]),
    (("sum(X@w)", "X", "X=n,d w=d"), [
        r"\mathbf{1}w^\top", r"\frac{\partial f}{\partial X_{ij}} = w_j",
        r"\left(\frac{\partial f}{\partial X}\right)_{ki} = w_i",
    ]),
    (("sum(exp(X))", "X", "X=n,d"), [
        "e^{X_{ij}}",
    ]),
    (("sum((A@B - C)**2)", "B", "A=m,n B=n,p C=m,p"), [
        r"2A^{\top}(AB-C)",
    ]),
    (("-sum(y*log(p)+(1-y)*log(1-p))", "p", "y=n p=n"), [
        r"\frac{p-y}{p\odot(1-p)}", r"-\frac{y_i}{p_i}+\frac{1-y_i}{1-p_i}", r"-y\oslash p + (1-y)\oslash(1-p)",
    ]),
    (("relu(x)", "x", "x="), [
        r"\begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
        r"\begin{cases} 1, & x > 0, \\ 0, & x \leq 0. \end{cases}", "H(x)",
    ]),
    (("abs(x)", "x", "x="), [
        r"\frac{|x|}{x}",
    ]),
    (("sum(max(x,0))", "x", "x=n"), [
        "1_{x>0}",
    ]),
    (("sum(exp(-norm(x)**2))", "x", "x=n"), [
        "-2xe^{-x^Tx}",
    ]),
    (("sum(A@B)", "A", "A=m,n B=n,p"), [
        r"\mathbf{1}\mathbf{1}^\top B^\top", r"\mathbf{1}_m\mathbf{1}_p^\top B^\top",
    ]),
    (("norm(X)**2", "X", "X=n,m"), [
        r"\nabla_{\mathbf X}\|\mathbf X\|_F^2 = 2\mathbf X",
    ]),
    (("sum(V*matmul(A,B))", "A", "A=b,m,n B=b,n,p V=b,m,p"), [
        r"VB^\top", r"V_b B_b^\top",
    ]),
    (("sum(V*matmul(A,B))", "B", "A=b,m,n B=n,p V=b,m,p"), [
        r"\sum_b A_b^\top V_b",
    ]),
    (("sum(w*log(det(A)))", "A", "A=n,m,m w=n"), [
        r"w_b A_b^{-\top}",
    ]),
    (("sum(exp(-norm(X[:,None]-X[None,:], axis=2)**2))", "X", "X=n,d"), [
        r"-4\sum_j e^{-\|x_i-x_j\|^2}(x_i-x_j)",
    ]),
    (("sum((x[1:]-x[:-1])**2)", None, "x=n"), [
        r"\sum_{i=1}^{n-1}(x_{i+1}-x_i)^2", r"\sum_{i=2}^{n}(x_i-x_{i-1})^2", r"\sum_i(x_{i+1}-x_i)^2",
    ]),
    (("sum(x[1:]**2)", None, "x=n"), [
        r"\sum_{i=2}^n x_i^2",
    ]),
    (("sum(x[:-1]**2)", None, "x=n"), [
        r"\sum_{i=1}^{n-1} x_i^2", r"\sum_{i=0}^{n-2} x_i^2",
    ]),
    (("sum(x**2)", None, "x=n"), [
        r"\sum_{i=0}^{n-1} x_i^2",
    ]),
    (("sum(x)**2 - sum(x**2)", None, "x=n"), [
        r"\sum_{i\ne j} x_ix_j", r"2\sum_{i<j} x_i x_j",
    ]),
    (("sum(x)**2 - sum(x**2)", "x", "x=n"), [
        r"2\sum_{j\neq i} x_j",
    ]),
    (("sum(X**2)", None, "X=n,m"), [
        r"\sum_{i,j} X_{ij}^2", r"\sum_{i=1}^n\sum_{j=1}^m x_{ij}^2", r"\sum_{i=1}^n\|x_i\|^2",
        r"\sum_{i=1}^n x_i^\top x_i",
    ]),
    (("sum(A@A.T)", None, "A=n,m"), [
        r"\sum_{i,j}a_i^\top a_j",
    ]),
    (("sum(roll(x,-1,0)*x)", None, "x=n"), [
        r"\sum_{i=1}^n x_ix_{i+1}",
    ]),
    (("trace(X.T@A@X)", None, "A=n,n X=n,p"), [
        r"\sum_{k=1}^p X_{:k}^\top A X_{:k}", r"\sum_{k=1}^p x_k^\top A x_k",
    ]),
    (("x@x", "x", "x=n"), [
        r"\frac{\partial}{\partial x_i} x^\top x = 2x_i \quad \forall i",
        r"\frac{\partial}{\partial x_i} x^\top x = 2x_i \quad \text{for all } i=1,\ldots,n",
    ]),
]  # fmt: skip
NUMPY = [
    (("norm(A@x-b)**2", "x", "A=m,n x=n b=m"), [
        "2 * A.T @ (A @ x - b)", "2*np.dot(A.T, A@x-b)", "2*np.matmul(A.T, np.matmul(A,x)-b)",
        "np.einsum('ij,i->j', A, 2*(A@x-b))", "2*np.einsum('ji,j', A, A@x-b)", "2*(A@x-b)@A",
        "2*np.tensordot(A, A@x-b, axes=(0,0))", "2*np.transpose(A)@(A@x-b)", "2*A.transpose()@(A@x-b)",
        "2.0*A.T.dot(A.dot(x)-b)", "2*((A@x-b)[:,None]*A).sum(axis=0)", "2*np.sum((A@x-b)[:,None]*A, axis=0)",
        "2*np.sum((A@x-b).reshape(-1,1)*A, 0)", "A.T@(2*(A@x-b))", "2*A.T@A@x - 2*A.T@b", "r = A@x - b; 2*A.T@r",
        "grad = 2*A.T@(A@x-b)", "return 2*A.T@(A@x-b)", "2*torch.mv(A.t(), A@x-b)", "2*A.mT@(A@x-b)",
    ]),
    (("sum(exp(x))", "x", "x=n"), [
        "np.exp(x)",
    ]),
    (("log(sum(exp(x)))", "x", "x=n"), [
        "np.exp(x)/np.sum(np.exp(x))", "np.exp(x)/np.exp(x).sum()", "scipy.special.softmax(x)",
        "np.exp(x - scipy.special.logsumexp(x))",
    ]),
    (("log(sum(exp(x)))", ("x", "x"), "x=n"), [
        "np.diag(p) - np.outer(p,p), p = np.exp(x)/np.exp(x).sum()",
        "np.diag(softmax(x)) - np.outer(softmax(x),softmax(x))",
    ]),
    (("log(det(X))", "X", "X=n,n"), [
        "np.linalg.inv(X).T", "np.linalg.inv(X.T)", "np.linalg.solve(X.T, np.eye(n))",
        "np.linalg.solve(X.T, np.eye(X.shape[0]))", "np.linalg.pinv(X).T",
    ]),
    (("sum(relu(W@x+b))", "W", "W=m,n x=n b=m"), [
        "np.outer(W@x+b > 0, x)", "((W@x+b)>0)[:,None]*x", "np.where((W@x+b)[:,None]>0, x[None,:], 0)",
    ]),
    (("sum(relu(W@x+b))", "b", "W=m,n x=n b=m"), [
        "np.heaviside(W@x+b, 0)",
    ]),
    (("sum(log(1+exp(X@w))) - y@(X@w)", "w", "X=n,d w=d y=n"), [
        "X.T @ (1/(1+np.exp(-X@w)) - y)", "X.T @ (scipy.special.expit(X@w) - y)", "X.T @ (torch.sigmoid(X@w) - y)",
    ]),
    (("sum(log(1+exp(X@w))) - y@(X@w)", ("w", "w"), "X=n,d w=d y=n"), [
        "X.T @ np.diag(s*(1-s)) @ X, s = 1/(1+np.exp(-X@w))", 's = 1/(1+np.exp(-X@w))\nX.T @ np.diag(s*(1-s)) @ X',
    ]),
    (("sum((X@w-y)**2)/n", "w", "X=n,d w=d y=n"), [
        "2/n*X.T@(X@w-y)", "2*X.T@(X@w-y)/len(y)", "2*X.T@(X@w-y)/y.size", "2*X.T@(X@w-y)/X.shape[0]",
        "2*np.mean(X*(X@w-y)[:,np.newaxis], axis=0)",
    ]),
    (("norm(x)", "x", "x=n"), [
        "x/np.linalg.norm(x)", "x/np.sqrt(x@x)", "x/np.sqrt((x**2).sum())", "x*(x@x)**-0.5",
    ]),
    (("norm(x)", ("x", "x"), "x=n"), [
        "(np.eye(n) - np.outer(x,x)/(x@x))/np.linalg.norm(x)",
    ]),
    (("sum(abs(x))", "x", "x=n"), [
        "np.sign(x)",
    ]),
    (("trace(A@X@B)", "X", "A=m,n X=n,p B=p,m"), [
        "(B@A).T", "np.einsum('mn,pm->np', A, B)",
    ]),
    (("sum(V*matmul(A,B))", "A", "A=b,m,n B=b,n,p V=b,m,p"), [
        "np.einsum('bmp,bnp->bmn', V, B)", "V @ B.transpose(0,2,1)", "V @ np.swapaxes(B,1,2)",
    ]),
    (("sum(tanh(x))", "x", "x=n"), [
        "1-np.tanh(x)**2", "1/np.cosh(x)**2",
    ]),
    (("sum(x**3)", "x", "x=n"), [
        "3*np.square(x)", "3*np.power(x,2)", "np.multiply(3, x*x)",
    ]),
    (("prod(x)", "x", "x=n"), [
        "np.prod(x)/x",
    ]),
    (("sum(cumsum(x)**2)", "x", "x=n"), [
        "2*np.cumsum(np.cumsum(x)[::-1])[::-1]", "2*np.flip(np.cumsum(np.flip(np.cumsum(x))))",
    ]),
    (("sum(maximum(x,y))", "x", "x=n y=n"), [
        "(x > y)*1.0", "np.where(x > y, 1, 0)", "(x > y).astype(float)",
    ]),
]  # fmt: skip
SYMPY = [
    (("sin(x)**2*exp(y)", "x", "x= y="), [
        "2*exp(y)*sin(x)*cos(x)", "exp(y)*sin(2*x)",
    ]),
    (("sqrt(x**2+y**2)", "x", "x= y="), [
        "x/sqrt(x**2 + y**2)",
    ]),
    (("log(x)", ("x", "x"), "x="), [
        "-1/x**2",
    ]),
    (("x**Rational(3,2)", "x", "x="), [
        "3*sqrt(x)/2",
    ]),
    (("x**y", "y", "x= y="), [
        "x**y*log(x)",
    ]),
    (("abs(x)", "x", "x="), [
        "sign(x)",
    ]),
    (("erf(x)", "x", "x="), [
        "2*exp(-x**2)/sqrt(pi)",
    ]),
    (("loggamma(x)", "x", "x="), [
        "digamma(x)",
    ]),
    (("atan2(y,x)", "x", "x= y="), [
        "-y/(x**2 + y**2)",
    ]),
    (("Max(x,0)", "x", "x="), [
        "Heaviside(x)", "Piecewise((1, x > 0), (0, True))",
    ]),
    (("norm(A@x-b)**2", "x", "A=m,n x=n b=m"), [
        "2*A.T*(A*x - b)", "2*Transpose(A)*(A*x-b)",
    ]),
    (("log(det(X))", "X", "X=n,n"), [
        "X.T**(-1)", "X.T.I", "Inverse(X).T", "X.I.T",
    ]),
    (("trace(X.T*X)", "X", "X=n,m"), [
        "2*X",
    ]),
    (("sum(A*B)", "A", "A=n,m B=n,m"), [
        "HadamardProduct(B, B)/B",
    ]),
    (("x**2", "x", "x="), [
        "Mul(2, x)",
    ]),
]  # fmt: skip
