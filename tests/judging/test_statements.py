"""Statements of programs in answers: names of one array, branches on arrays, entries beside an index, rows, lists."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import FormulaError

SQUARE = ("sum(x**2)", "x", "x=n")
STEPS = ("sum((x[1:]-x[:-1])**2)", "x", "x=n")
LEAST = ("norm(A@x-b)**2", "x", "A=m,n x=n b=m")
MATRIX = ("norm(A@x-b)**2", "A", "A=m,n x=n b=m")

RIGHT = [
    ("g = x\ng[x > 0] = 0\nreturn 2*g", ("sum(where(x>0,0,x**2))", "x", "x=n")),
    ("g = x.copy()\ng[x > 0] = 0\nreturn 2*g", ("sum(where(x>0,0,x**2))", "x", "x=n")),
    ("def g(x):\n    g = x.copy()\n    g += x\n    return g", SQUARE),
    ("y = x\ny = y*2\nreturn 2*x", SQUARE),
    ("r = A@x - b\ng = r\ng *= 2\nreturn A.T@r", LEAST),
    ("r = A @ x\nr -= b\nreturn 2 * A.T @ r", LEAST),
    ("if np.sum(x) > 0:\n    return 2*x\nreturn 2*x", SQUARE),
    (
        "g = np.zeros(n)\nfor i in range(m):\n  for j in range(n):\n    g[j] += 2*A[i][j]*(A[i]@x-b[i])\nreturn g",
        LEAST,
    ),
    (
        "g = np.zeros(n)\nfor i in range(n-1):\n    g[i+1] += 2*(x[i+1]-x[i])\n    g[i] -= 2*(x[i+1]-x[i])\nreturn g",
        STEPS,
    ),
    (
        "g = np.zeros(n)\nfor i in range(1, n):\n    d = x[i] - x[i-1]\n    g[i] += 2*d\n    g[i-1] -= 2*d\nreturn g",
        STEPS,
    ),
    ("G = np.zeros((m,n))\nfor i in range(m):\n    G[i] = 2*(A[i]@x-b[i])*x\nreturn G", MATRIX),
    ("G = np.zeros((m,n))\nfor i in range(m):\n    G[i, :] = 2*(A[i]@x-b[i])*x\nreturn G", MATRIX),
    ("G = np.zeros_like(A)\nfor j in range(n):\n    G[:, j] = 2*(A@x-b)*x[j]\nreturn G", MATRIX),
    (
        "G = np.zeros_like(A)\nfor i in range(m):\n  for j in range(n):\n    G[i][j] = 2*(A[i]@x-b[i])*x[j]\nreturn G",
        MATRIX,
    ),
    ("g = np.zeros(n)\nfor i, xi in enumerate(x):\n    g[i] = 2*xi\nreturn g", SQUARE),
    ("g = []\nfor xi in x:\n    g.append(2*xi)\nreturn np.array(g)", SQUARE),
    ("g = np.empty_like(x)\nfor i in range(len(x)):\n    g[i] = 2*x[i]\nreturn g", SQUARE),
    ("t = np.zeros(n)\nfor k in range(m):\n    t = t + 2*A[k]*(np.dot(A[k], x) - b[k])\nreturn t", LEAST),
    ("t = np.zeros(n)\nfor k in range(m):\n    t = t + 2*A[k]*(np.sum(A[k]*x) - b[k])\nreturn t", LEAST),
    (
        "g = np.zeros(n)\nd = np.diff(x)\ng[1:] += 2*d\ng[:-1] -= 2*d\nreturn g",
        STEPS,
    ),
    (
        "g = 2*x\ng[1:-1] = 4*x[1:-1] - 2*x[2:] - 2*x[:-2]\ng[0] -= 2*x[1]\ng[-1] -= 2*x[-2]\nreturn g",
        STEPS,
    ),
    ("G = np.zeros_like(A)\nG[:, 0] = 2*A[:,0]\nreturn G", ("sum(A[:,0]**2)", "A", "A=m,n")),
    (
        "G = np.zeros_like(A)\nG[:, 1:] += np.diff(A)\nG[:, :-1] -= np.diff(A)\nreturn 2*G",
        ("sum((A[:,1:]-A[:,:-1])**2)", "A", "A=m,n"),
    ),
    ("g = np.zeros_like(x)\nmask = x > 0\ng[mask] = 2*x[mask]\nreturn g", ("sum(where(x>0,x**2,0))", "x", "x=n")),
    ("g = 2*x\ng[x < 0] *= 1\nreturn g", SQUARE),
    ("g = np.ones(n)\ng[x < 0] *= -1\nreturn g", ("sum(abs(x))", "x", "x=n")),
    ("G = 2*A\nG[w > 0] = 0\nreturn G", ("sum(where(w[:,None]>0,0,A**2))", "A", "A=n,n w=n")),
    ("g = np.zeros(n)\nfor i in range(n):\n    v = x[i]\n    v *= 2\n    g[i] = v\nreturn g", SQUARE),
    ("s = x[0]\ns += 1\nprint(s)\nreturn 2*x", SQUARE),
    ("g = np.zeros(len(x), dtype=float)\nfor i in range(n):\n    g[i] = 2*x[i]\nreturn g", SQUARE),
    ("p = np.exp(x)/np.exp(x).sum()\np[0] -= 1\nreturn p", ("logsumexp(x) - x[0]", "x", "x=n")),
    ("u, v = x[0], x[1]\nreturn np.array([2*u, 2*v])", ("x[0]**2+x[1]**2", "x", "x=2")),
    ("u, v = x[1], x[0]\nu, v = v, u\nreturn np.array([2*u, 2*v])", ("x[0]**2+x[1]**2", "x", "x=2")),
]

PAIRS = ("sum(1/(sum((R[:,None,:]-R[None,:,:])**2,2)+1))", "R", "R=n,d")
FORCES = "F = np.zeros_like(R)\nfor i in range(n):\n  for j in range(n):\n    d = R[i]-R[j]\n    F[i] -= %s\nreturn F"
SKIPPED = (
    "g = np.zeros(n)\nfor i in range(n):\n  for j in range(n):\n    if i == j: continue\n    g[i] += 4*(x[i]-x[j])\ng"
)
RIGHT += [(FORCES % f"4*d/({square}+1)**2", PAIRS) for square in ("d@d", "np.dot(d,d)", "np.sum(d**2)", "d.dot(d)")]
RIGHT += [
    (SKIPPED, ("sum((x[:,None]-x)**2)", "x", "x=n")),
    (
        "G = np.zeros_like(M)\nfor j in range(k):\n  for i in range(n):\n    G[j] += -2*Z[i,j]*(X[i]-M[j])\nreturn G",
        ("sum(Z*sum((X[:,None,:]-M[None,:,:])**2,2))", "M", "X=n,d M=k,d Z=n,k"),
    ),
]

WRONG = [
    ("def g(x):\n    g = x.copy()\n    g + x\n    return g", SQUARE),
    (FORCES % "2*d/(d@d+1)**2", PAIRS),
    (SKIPPED.replace("4", "2"), ("sum((x[:,None]-x)**2)", "x", "x=n")),
    ("G = 2*A\nG[w > 0] = 0\nreturn G", ("sum(where(w>0,0,A**2))", "A", "A=n,n w=n")),
    ("g = x\ng[x > 0] = 0\nreturn 2*x", SQUARE),
    ("def g(x):\n    g = x\n    g += 1\n    return 2*x", SQUARE),
    (
        "g = np.zeros(n)\nfor i in range(1, n):\n    d = x[i] - x[i-1]\n    g[i] += 2*d\n    g[i-1] += 2*d\nreturn g",
        STEPS,
    ),
    ("G = np.zeros((m,n))\nfor i in range(m):\n    G[i] = (A[i]@x-b[i])*x\nreturn G", MATRIX),
    ("g = np.zeros(n)\nd = np.diff(x)\ng[1:] += 2*d\ng[:-1] += 2*d\nreturn g", STEPS),
    ("g = 2*x\ng[0] = 0\nreturn g", SQUARE),
    ("g = 2*x; g[0] = 0; g", SQUARE),
    ("g = 2*x\ng[1:] = 0\nreturn g", SQUARE),
    ("g = 2*x\ng[x > 0] = 2*x[x > 0]/x[x > 0].size*n\nreturn g", SQUARE),
    ("g = np.zeros_like(x)\ng[x > 0] = 2*np.sum(x[x > 0])\nreturn g", ("sum(relu(x))**2/2", "x", "x=n")),
]

REFUSED = [
    ("p = np.exp(x)/np.exp().sum()\nreturn p", SQUARE, "cannot read"),
    ("g = 2*x\ng[1:]j = 0\nreturn g", SQUARE, "no Python: invalid syntax in line 2"),
    ("g = 2*x; g[] = 0; g", SQUARE, "no Python: invalid syntax in line 1"),
    ("def g(x):\n    g = x.copy()\n   g += x\n    return 2*x", SQUARE, "no Python"),
    ("y = x.T\ny *= 2\nreturn 2*x", SQUARE, "write g = x.copy()"),
    ("g = x\nfor i in range(n):\n    g[i] += x[i]\nreturn g", SQUARE, "write g = x.copy()"),
    ("def g(x):\n    if x > 0:\n        return 2*x\n    return 2*x", SQUARE, "write np.where"),
    ("2*x if x > 0 else 2*x", SQUARE, "write np.where"),
    ("if x > 0 and norm(x) > 0:\n    return 2*x\nreturn 2*x", SQUARE, "write np.where"),
    ("g = np.empty(n)\nfor i in range(1, n):\n    g[i] = 2*x[i]\nreturn g", SQUARE, "array of zeros"),
    ("G = np.zeros((n,n))\nfor i in range(n):\n    G[i,i] = 2*x[i]\nreturn G", SQUARE, "array of zeros"),
    ("return 2*x.astype(int)", SQUARE, "cuts numbers off"),
    ("for v in x:\n    g.append(2*v)\nreturn np.array(g)", SQUARE, "is empty before"),
    ("g = 2*x\ng[0] = 2*x[-]\nreturn g", SQUARE, "cannot read"),
    ("2*sum(x[-i] for i in range(n))", SQUARE, "stands alone"),
    ("G = 2*A\nG[A > 0, 0] = 0\nreturn G", LEAST, "each entry of an array"),
    ("g = lambda: 2*x\nreturn g", SQUARE, "where it is called"),
]


@pytest.mark.parametrize(("text", "asked"), RIGHT, ids=range(len(RIGHT)))
def test_right_programs_are_equal(text, asked):
    of, wrt, shapes = asked
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes).verdict == "EQUAL"


@pytest.mark.parametrize(("text", "asked"), WRONG, ids=range(len(WRONG)))
def test_wrong_programs_are_different(text, asked):
    of, wrt, shapes = asked
    assert sg.judge(text, of=of, wrt=wrt, shapes=shapes).verdict == "DIFFERENT"


@pytest.mark.parametrize(("text", "asked", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_python_does_otherwise_is_refused(text, asked, words):
    of, wrt, shapes = asked
    with pytest.raises(FormulaError, match=words.replace(".", r"\.").replace("(", r"\(").replace(")", r"\)")):
        sg.judge(text, of=of, wrt=wrt, shapes=shapes)


ROWS = ("sum(w[:,None]*A**2)", "A", "A=n,n w=n")
COLUMNS = ("sum(A**2*w)", "A", "A=n,n w=n")

RECYCLED = [
    ("function(A,w) 2*A*w", ROWS, COLUMNS), ("function(A,w) 2*w*A", ROWS, COLUMNS), ("@(A,w) 2*A.*w", ROWS, COLUMNS),
    ("2*A.*w", ROWS, COLUMNS), ("2*A .* repmat(w,1,n)", ROWS, COLUMNS), ("@(A,w) 2*A.*w'", COLUMNS, ROWS),
    ("2*A.*repmat(w',n,1)", COLUMNS, ROWS), ("function(A,w) 2*A %*% diag(w)", COLUMNS, ROWS),
]  # fmt: skip


@pytest.mark.parametrize(("text", "right", "wrong"), RECYCLED, ids=[t for t, _, _ in RECYCLED])
def test_entries_of_a_vector_belong_to_rows_in_r_and_matlab(text, right, wrong):
    for (of, wrt, shapes), verdict in ((right, "EQUAL"), (wrong, "DIFFERENT")):
        assert sg.judge(text, of=of, wrt=wrt, shapes=shapes).verdict == verdict


def test_matlab_divides_by_matrices_on_both_sides():
    asked = {"of": "trace(inv(X)@A)", "wrt": "X", "shapes": "X=n,n A=n,n"}
    for text in (r"-X'\A'/X'", r"@(X,A) -X'\A'/X'", r"@(X,A) -(X'\(A'/X'))"):
        assert sg.judge(text, **asked)
    assert not sg.judge(r"@(X,A) -X\A/X", **asked)


COPIES = [
    "np.tile(b, (m,1))", "np.broadcast_to(b, A.shape)", "np.broadcast_to(b, (m, n))", "np.tile(b, (A.shape[0],1))",
    "repmat(b', m, 1)", "repmat(b', size(A,1), 1)", "np.repeat(b[None,:], m, axis=0)", "b.expand(m, n)",
    "b.unsqueeze(0).expand(m,-1)", "b.repeat(m,1)", "np.full((m,n), 1)*b",
]  # fmt: skip


@pytest.mark.parametrize("text", COPIES)
def test_copies_of_a_row(text):
    assert sg.judge(text, of="sum(A@b)", wrt="A", shapes="A=m,n b=n")


CHANGES = [
    "g.fill(0)", "g.sort()", "g.mul_(2)", "np.add.at(g, 0, 1)", "np.multiply(g, 2, out=g)", "np.fill_diagonal(g, 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", CHANGES)
def test_a_call_that_may_change_an_array_is_not_left_out(text):
    """It was a value that nothing is done with: EQUAL."""
    with pytest.raises(FormulaError, match="cannot read a text with the statement"):
        sg.judge(f"g = 2*x\n{text}\nreturn g", of="sum(x**2)", wrt="x", shapes="x=n")


VIEWS = [
    "np.ravel(A)", "np.transpose(A)", "np.reshape(A, -1)", "np.diag(A)", "A.diagonal()", "A.flat", "A.detach()",
    "np.array(A, copy=False)", "A if m > 3 else 2*A",
]  # fmt: skip


@pytest.mark.parametrize("text", VIEWS)
def test_what_changes_a_view_changes_the_array(text):
    with pytest.raises(FormulaError, match="names the same array"):
        sg.judge(f"y = {text}\ny *= 2\nreturn 2*A", of="sum(A**2)", wrt="A", shapes="A=m,n")


@pytest.mark.parametrize("text", ["for r in A:", "for i, r in enumerate(A):", "for i in range(m):\n    r = A[i]"])
def test_what_changes_a_row_in_a_loop_changes_the_matrix(text):
    with pytest.raises(FormulaError, match="names the same array"):
        sg.judge(f"{text}\n    r *= 2\nreturn 2*A", of="sum(A**2)", wrt="A", shapes="A=m,n")


LISTS = ["2*g", "g + [0]*n", "g + g"]


@pytest.mark.parametrize("text", LISTS)
def test_a_list_is_no_array(text):
    with pytest.raises(FormulaError, match="a list is no array"):
        sg.judge(f"g = []\nfor v in x:\n    g.append(v)\nreturn {text}", of="sum(x**2)", wrt="x", shapes="x=n")


@pytest.mark.parametrize("kind", ["int", "dtype=int", "np.int64", "dtype='int32'"])
def test_arrays_of_whole_numbers_cut_off_what_is_put_into_them(kind):
    text = f"g = np.zeros(n, {kind})\nfor i in range(n):\n    g[i] = 2*x[i]\nreturn g"
    with pytest.raises(FormulaError):
        sg.judge(text, of="sum(x**2)", wrt="x", shapes="x=n")


def test_an_array_that_a_loop_fills_has_its_own_size():
    text = "g = np.zeros(%s)\nfor j in range(p):\n    g[j] = -np.sum((y - X@b)*X[:, j])\nreturn g"
    asked = {"of": "norm(y - X@b)**2/2", "wrt": "b", "shapes": "X=n,p y=n b=p"}
    for size in ("p", "len(b)", "X.shape[1]", "b.shape", "(p,)", "p, float"):
        assert sg.judge(text % size, **asked)
    assert sg.judge(text % "n", **asked).verdict == "DIFFERENT"
