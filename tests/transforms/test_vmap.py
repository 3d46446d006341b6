"""func.vmap, func.linearize and func.grad_and_value."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vmap

X = np.arange(12.0).reshape(3, 4)
W = np.linspace(-1, 1, 4)


def test_batch_axes_in_and_out():
    np.testing.assert_allclose(vmap(lambda x, w: x @ w, in_dims=(0, None))(X, W).numpy(), X @ W)
    np.testing.assert_allclose(vmap(lambda x: x * 2, in_dims=1)(X).numpy(), 2 * X.T)
    np.testing.assert_allclose(vmap(lambda x: x * 2, out_dims=1)(X).numpy(), 2 * X.T)
    np.testing.assert_allclose(vmap(lambda x: x * 2, in_dims=-1, out_dims=-1)(X).numpy(), 2 * X)
    np.testing.assert_allclose(vmap(vmap(lambda a: a * a))(X).numpy(), X * X)


def test_nested_arguments_and_results():
    params = {"w": W, "b": 1.0}
    f = vmap(
        lambda p, x: {"y": (p["w"] * x).sum() + p["b"], "x": x},
        in_dims=({"w": None, "b": None}, 0),
        out_dims={"y": 0, "x": 1},
    )
    out = f(params, X)
    np.testing.assert_allclose(out["y"].numpy(), X @ W + 1)
    np.testing.assert_allclose(out["x"].numpy(), X.T)


def test_per_example_gradients_and_gradients_through():
    w = sg.tensor(W, requires_grad=True)
    per = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(W, X)
    np.testing.assert_allclose(per.numpy(), 2 * (X @ W)[:, None] * X)
    vmap(lambda x: (w * x).sum() ** 2)(X).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), per.numpy().sum(0))
    _, t = jvp(vmap(lambda x: x.sin()), (X,), (np.ones_like(X),))
    np.testing.assert_allclose(t.numpy(), np.cos(X))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: vmap(lambda x, y: x)(X, W), "same size in the mapped dimension"),
        (lambda: vmap(lambda x: x, in_dims=(None,))(X), "at least one Tensor"),
        (lambda: vmap(lambda x: x, in_dims=2)(X), "Got in_dim=2 for some input, but that input is a Tensor of dimens"),
        (lambda: vmap(lambda x, n: x)(X, 3), "Got in_dim=0 for an input but the input is of type <class 'int'>"),
        (lambda: vmap(lambda x, y: x, in_dims=[0, 0])(X, X), "expected `in_dims` to be int or a .potentially nested"),
        (lambda: vmap(lambda x, y: x, in_dims=(0,))(X, X), "in_dims is not compatible with the structure of `inputs`"),
        (lambda: vmap(lambda x: x[0], in_dims=((0, 0),))([X, X]), "in_dims is not compatible with the structure"),
        (lambda: vmap(lambda: sg.ones(2))(), "got no inputs"),
        (lambda: vmap(lambda x: x, randomness="no"), "Only allowed values for randomness"),
        (lambda: vmap(lambda x: "text")(X), "must only return Tensors, got type <class 'str'>"),
        (lambda: vmap(lambda x: (x, 3))(X), "must only return Tensors, got type <class 'int'>"),
        (lambda: vmap(lambda x: x, out_dims="no")(X), "`out_dims` must be an int, None or a python collection of ints"),
        (lambda: vmap(lambda x: (x, x), out_dims=(0,))(X), "out_dims is not compatible with the structure of"),
        (lambda: vmap(lambda x: x, out_dims=(0, 0))(X), "out_dims is not compatible with the structure"),
        (lambda: vmap(lambda x: x, out_dims=None)(X), "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(lambda x: x, out_dims=2)(X), "Dimension out of range"),
    ],
)
def test_vmap_errors(call, words):
    with pytest.raises((ValueError, IndexError), match=words):
        call()


def test_results_that_no_example_has_for_itself():
    values, text = vmap(lambda x: (x, "text"), out_dims=(0, None))(X)
    assert values.shape == X.shape
    assert text == "text"
    assert vmap(lambda x: sg.arange(3), out_dims=None)(X).tolist() == [0, 1, 2]
    w = sg.zeros(3, requires_grad=True)
    with pytest.raises(ValueError, match="out_dim is None"):
        vmap(lambda x: w * x[0], out_dims=None)(X)  # equal numbers, and different derivatives
    assert vmap(lambda x: w, out_dims=None)(X) is w
    assert vmap(lambda x: x * 2, out_dims=(1,))(X).shape == X.T.shape


def test_an_empty_batch_has_the_shape_of_its_results():
    empty = sg.zeros(0, 2, 2, requires_grad=True)
    total, inverse = vmap(lambda x: (x.sum(), sg.linalg.inv(x)), out_dims=(0, 1))(empty)
    assert (total.shape, inverse.shape) == ((0,), (2, 0, 2))
    inverse.sum().backward()
    assert empty.grad.shape == (0, 2, 2)
    assert vmap(lambda k: sg.arange(3)[k])(sg.zeros(0, dtype=sg.int64)).shape == (0,)


def test_what_all_examples_share_is_not_changed_by_each():
    counter = sg.zeros(())
    found = vmap(lambda x, c: x + c.add_(1), in_dims=(0, None))(X, counter)
    assert counter.item() == 1
    np.testing.assert_allclose(found.numpy(), X + 1)
    rows = sg.tensor(X)
    vmap(lambda x: x.mul_(2))(rows)
    np.testing.assert_allclose(rows.numpy(), 2 * X)


@pytest.mark.parametrize("made", [sg.ones(2), sg.ones(())], ids=["vector", "number"])
@pytest.mark.parametrize("shown", ["c", "c.data", "c.detach()", "c.view(-1)", "c.detach().view(-1).data"])
def test_what_shows_the_memory_of_what_all_share_is_changed_once(shown, made):
    """Otherwise the second example finds what the first one left: the results were those of c, 2 c, 4 c."""
    c = made.clone()

    def f(x):
        eval(shown, {"c": c}).mul_(2)  # noqa: S307
        return (x * c).sum()

    assert vmap(f)(sg.ones(3, 2)).tolist() == [4, 4, 4]
    assert c.tolist() == (2 * made).tolist()
    own = vmap(lambda x: (x.clone().detach().mul_(2) + x.data.mul_(1)).sum())(sg.ones(3, 2))
    assert own.tolist() == [6, 6, 6]


DRAWS = {
    "rand": lambda x: sg.rand(20),
    "randn_like": lambda x: sg.randn_like(sg.ones(20)),
    "randint": lambda x: sg.randint(0, 1000, (20,)),
    "randperm": lambda x: sg.randperm(20),
    "bernoulli": lambda x: sg.bernoulli(sg.full((60,), 0.5)),
    "dropout": lambda x: sg.nn.functional.dropout(x.new_ones(60)),
    "in place": lambda x: x.new_ones(20).normal_(),
    "a generator": lambda x, g=sg.Generator(): sg.rand(20, generator=g),
    "numpy": lambda x, g=np.random.default_rng(0): sg.rand(20, generator=g),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_random_numbers_as_asked_for(draw):
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        vmap(draw)(X)
    same = vmap(draw, randomness="same")(X)
    assert (same == same[0]).all()
    parts = vmap(draw, randomness="same", chunk_size=1)(X)
    assert (parts == parts[0]).all()  # every chunk drew numbers of its own
    other = vmap(draw, randomness="different")(X)
    assert not (other[0] == other[1]).all()
    nested = vmap(vmap(draw, randomness="same"), randomness="different")(X[:, :, None])
    assert (nested[0] == nested[0, 0]).all()
    assert not (nested[0, 0] == nested[1, 0]).all()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(vmap(draw, randomness="same"))(X[:, :, None])
    draw(sg.ones(1))  # outside nothing is refused


def test_linearize():
    calls = []

    def f(p, y):
        calls.append(1)
        return {"a": p["x"].sin() * y, "b": (p["x"] * p["x"]).sum()}

    x, y = np.array([0.3, 1.2]), np.array([2.0, -1.0])
    out, push = linearize(f, {"x": x}, y)
    assert len(calls) == 1
    np.testing.assert_allclose(out["a"].numpy(), np.sin(x) * y)
    for dx, dy in ((np.array([1.0, 0.0]), np.zeros(2)), (np.array([0.5, -2.0]), np.array([1.0, 3.0]))):
        t = push({"x": dx}, dy)
        np.testing.assert_allclose(t["a"].numpy(), np.cos(x) * y * dx + np.sin(x) * dy)
        np.testing.assert_allclose(t["b"].item(), 2 * x @ dx)
    assert len(calls) == 1
    with pytest.raises(ValueError, match="to have the same argspec as the primals"):
        push(x, y)
    with pytest.raises(ValueError, match="tangent:0 with shape .* doesn't match the shape"):
        push({"x": np.ones(3)}, y)
    assert linearize(lambda x: sg.ones(2), x)[1](x).tolist() == [0.0, 0.0]


def test_grad_and_value():
    g, value = grad_and_value(lambda x: (x * x).sum())(W)
    np.testing.assert_allclose(g.numpy(), 2 * W)
    np.testing.assert_allclose(value.item(), W @ W)
    g, (value, aux) = grad_and_value(lambda x: ((x * x).sum(), x * 3), has_aux=True)(W)
    np.testing.assert_allclose(aux.numpy(), 3 * W)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_same_as_torch():
    torch = pytest.importorskip("torch")
    theirs = torch.func.vmap(torch.func.grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0), out_dims=1)(
        torch.tensor(W), torch.tensor(X)
    )
    ours = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0), out_dims=1)(W, X)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    out, push = torch.func.linearize(lambda x: x.sin() * x, torch.tensor(W))
    mine, mine_push = linearize(lambda x: x.sin() * x, W)
    np.testing.assert_allclose(mine.numpy(), out.numpy(), rtol=1e-12)
    np.testing.assert_allclose(mine_push(W).numpy(), push(torch.tensor(W)).numpy(), rtol=1e-12)


# ------------------------------------------------------------------------------------------ one run for the whole batch


def _count(function):
    """The function, and how often it ran."""
    calls = []

    def counted(*args, **kwargs):
        calls.append(1)
        return function(*args, **kwargs)

    return counted, calls


def _forward(w, x):
    return sg.tanh(x @ w) ** 2


_ROW = np.random.default_rng(3).normal(size=(6, 4))
_SQUARE = np.einsum("bij,bkj->bik", *[np.random.default_rng(4).normal(size=(6, 4, 4))] * 2) + np.eye(4)
ONCE = {
    "an activation": (_forward, (None, 0)),
    "a gradient": (sg.func.grad(_forward), (None, 0)),
    "a Hessian": (sg.func.hessian(_forward), (None, 0)),
    "a Jacobian by columns": (sg.func.jacfwd(lambda w, x: sg.sin(w * x)), (None, 0)),
    "a Jacobian by rows": (sg.func.jacrev(lambda w, x: sg.sin(w * x)), (None, 0)),
    "a tangent": (lambda w, x: sg.func.jvp(sg.sin, (w * x,), (x,))[1], (None, 0)),
    "a softmax": (lambda w, x: sg.softmax(x * w, 0).cumsum(0), (None, 0)),
    "an order": (lambda w, x: sg.sort(x * w)[0][1:] - x.max(), (None, 0)),
    "a padded row": (lambda w, x: sg.nn.functional.pad(x * w, (1, 2)), (None, 0)),
    "a choice": (lambda w, x: sg.where(x > w, x, x * x), (None, 0)),
    "a standard score": (lambda w, x: (x - x.mean()) / x.std() * w, (None, 0)),
    "a change in place": (lambda w, x: x.clone().mul_(w).add_(1), (None, 0)),
    "what all share": (lambda w, x: (w.sum() * 2).expand(3), (None, 0)),
}
SQUARES = {
    "a system": (lambda v, a: sg.linalg.solve(a, v), (None, 0)),
    "the gradient of a system": (sg.func.grad(lambda v, a: sg.linalg.solve(a, v) @ v, argnums=(0, 1)), (None, 0)),
    "the gradient of a determinant": (lambda v, a: sg.func.grad(sg.logdet)(a) @ v, (None, 0)),
    "a factor": (lambda v, a: sg.linalg.cholesky(a) @ v, (None, 0)),
    "eigenvalues": (lambda v, a: sg.linalg.eigvalsh(a) * v, (None, 0)),
}  # fmt: skip
CASES = {**{k: (*v, _ROW) for k, v in ONCE.items()}, **{k: (*v, _SQUARE) for k, v in SQUARES.items()}}


@pytest.mark.parametrize("name", CASES)
def test_a_batch_takes_one_run(name):
    function, in_dims, batch = CASES[name]
    counted, calls = _count(function)
    v = sg.tensor(np.linspace(0.5, 1.5, 4), requires_grad=True)
    x = sg.tensor(batch, requires_grad=True)
    found = sg.func.vmap(counted, in_dims=in_dims)(v, x)
    assert len(calls) == 1
    rows = [function(v, x[k]) for k in range(len(batch))]
    if not isinstance(found, tuple):
        found, rows = (found,), [(row,) for row in rows]
    for got, wanted in zip(found, zip(*rows, strict=True), strict=True):
        stacked = sg.stack(list(wanted))
        assert got.dtype == stacked.dtype
        np.testing.assert_allclose(got.detach(), stacked.detach(), rtol=1e-10, atol=1e-12)
        if stacked.requires_grad:
            weights = sg.tensor(np.random.default_rng(5).normal(size=stacked.shape))
            ours = sg.autograd.grad((got * weights).sum(), (v, x), allow_unused=True, retain_graph=True)
            theirs = sg.autograd.grad((stacked * weights).sum(), (v, x), allow_unused=True, retain_graph=True)
            for a, b in zip(ours, theirs, strict=True):
                if b is not None and a is None:
                    assert not b.any()
                elif b is not None:
                    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_values_that_are_looked_at_run_one_by_one():
    x = sg.tensor(np.array([[1.0, 2.0], [-3.0, 1.0], [0.5, 0.5]]))
    found = sg.func.vmap(lambda r: r * 2 if r.sum() > 0 else r * 0)(x)
    np.testing.assert_array_equal(found, [[2, 4], [0, 0], [1, 1]])
    np.testing.assert_array_equal(sg.func.vmap(lambda r: r * float(r[0]))(x), x * x[:, :1])


WHOLE = sg.tensor([[1, 2, 1], [2, 2, 1], [1, 1, 2]])
BY_VALUES = {
    "what is detached": lambda i: i.detach() * 2,
    "its data": lambda i: i.data + 1,
    "a number of what is detached": lambda i: i * int(i.detach()[0]),
    "NumPy's array": lambda i: sg.tensor(i.numpy() + 1),
    "how often": lambda i: sg.bincount(i, minlength=3),
    "how often by NumPy": lambda i: np.bincount(i, minlength=3),
    "how often, weighted": lambda i: sg.bincount(i, sg.tensor([1.0, 2.0, 4.0]), 3),
    "weights": lambda i: sg.bincount(sg.tensor([0, 1, 1]), i, 3),
    "places": lambda i: sg.unravel_index(i, (2, 2))[1],
    "which are alike": lambda i: sg.unique(i, return_inverse=True)[1],
    "repeats": lambda i: sg.repeat_interleave(sg.arange(3.0), i),
    "swaps": lambda i: sg.lu_unpack(sg.eye(3), i.int())[0],
    "a mask": lambda i: sg.zeros(3).masked_scatter(i > 1, sg.arange(3.0)),
    "a detached mask": lambda i: sg.arange(3)[(i > 1).detach()].sum(),
    "bits": lambda i: i.double().view(sg.int64),
}


@pytest.mark.parametrize("function", BY_VALUES.values(), ids=BY_VALUES)
def test_values_of_whole_numbers_are_those_of_each_example(function):
    """Also where they are taken of what is detached, or of what has no derivative at all."""
    rows = WHOLE if function is not BY_VALUES["repeats"] else WHOLE[[0, 2]]
    np.testing.assert_array_equal(vmap(function)(rows), np.stack([np.asarray(function(row)) for row in rows]))


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_nan_that_another_spelling_makes_finite_stays_finite():
    x = sg.tensor(np.array([0.0, 1.0, 1000.0]))
    slopes = sg.func.vmap(sg.func.grad(lambda t: sg.log1p(sg.exp(t))))(x)
    np.testing.assert_allclose(slopes, [0.5, 1 / (1 + np.exp(-1)), 1.0])


def test_numbers_without_axes_keep_their_place_in_promotion():
    scale, row = sg.tensor([1.5, 2.5], dtype=sg.float64), sg.ones(3, dtype=sg.float32)
    found = sg.func.vmap(lambda s: s * row)(scale)
    assert found.dtype == sg.float32
    np.testing.assert_array_equal(found, [[1.5] * 3, [2.5] * 3])


def test_captured_tensors_keep_their_history():
    w = sg.tensor([1.0, -2.0], requires_grad=True)
    seen = w * 3
    found = sg.func.vmap(lambda x: (x * seen).sum())(sg.tensor([[1.0, 1.0], [2.0, 0.5]]))
    found.sum().backward()
    np.testing.assert_array_equal(w.grad, [9.0, 4.5])


def test_keyword_arguments_are_shared_as_in_torch():
    x, s = sg.ones(3, 2), sg.ones(3, 2) * 2
    assert sg.func.vmap(lambda x, s: (x * s).sum())(x, s=s).tolist() == [12.0, 12.0, 12.0]


def test_chunks_give_what_the_whole_gives():
    x = sg.tensor(_ROW)
    whole = sg.func.vmap(lambda r: (r * 2, r.sum()), out_dims=(1, 0))
    parts = sg.func.vmap(lambda r: (r * 2, r.sum()), out_dims=(1, 0), chunk_size=4)
    for a, b in zip(whole(x), parts(x), strict=True):
        np.testing.assert_allclose(a, b)


def test_a_program_of_a_mapped_gradient_holds_for_every_batch():
    w, rows = np.linspace(0.5, 1.5, 4), _ROW
    program = sg.compile(sg.func.vmap(sg.func.grad(_forward), in_dims=(None, 0)), w, rows)
    assert "stack" not in program.source
    more = np.random.default_rng(7).normal(size=(50, 4))
    expected = sg.func.vmap(sg.func.grad(_forward), in_dims=(None, 0))(sg.tensor(w), sg.tensor(more))
    np.testing.assert_allclose(program(w, more), expected, rtol=1e-12)


def test_mapped_calls_inside_of_mapped_calls():
    a, b = sg.tensor(_ROW), sg.tensor(_ROW[:3] + 1)
    counted, calls = _count(lambda x, y: (x * y).sum())
    found = sg.func.vmap(lambda x: sg.func.vmap(lambda y: counted(x, y))(b))(a)
    np.testing.assert_allclose(found, a @ b.T)
    assert len(calls) == 1


@pytest.mark.parametrize("outer", ["jvp", "jacfwd by what all share", "jvp of a gradient"])
def test_forward_mode_over_a_mapped_call_takes_one_run(outer):
    counted, calls = _count(lambda w, x: sg.sin(w * x).prod())
    mapped = sg.func.vmap(counted, in_dims=(None, 0))
    w, x, way = sg.tensor(np.linspace(0.5, 1.5, 4)), sg.tensor(_ROW), sg.tensor(_ROW[::-1].copy())
    if outer == "jvp":
        found = sg.func.jvp(lambda x: mapped(w, x), (x,), (way,))[1]
        expected = [sg.func.jvp(lambda r: sg.sin(w * r).prod(), (r,), (t,))[1] for r, t in zip(x, way, strict=True)]
    elif outer == "jvp of a gradient":
        slope = sg.func.grad(lambda x: sg.sin(w * x).prod())
        found = sg.func.jvp(sg.func.vmap(lambda x: sg.func.grad(lambda x: counted(w, x))(x)), (x,), (way,))[1]
        expected = [sg.func.jvp(slope, (r,), (t,))[1] for r, t in zip(x, way, strict=True)]
    else:
        found = sg.func.jacfwd(lambda w: mapped(w, x))(w)
        expected = [sg.func.grad(lambda w, r=r: sg.sin(w * r).prod())(w) for r in x]
    np.testing.assert_allclose(found, np.stack([e.numpy() for e in expected]), rtol=1e-10, atol=1e-13)
    assert len(calls) == 1


def test_a_gradient_inside_that_keeps_no_graph_is_a_constant():
    def slopes(x):
        return sg.autograd.grad((x**3).sum(), x)[0].sum()

    each = sg.func.grad(slopes)
    assert sg.func.vmap(each)(sg.ones(2, 3)).tolist() == [each(sg.ones(3)).tolist()] * 2 == [[0.0] * 3] * 2

    w = sg.ones(3, requires_grad=True)
    cubes = w**3
    rows = sg.func.vmap(lambda v: sg.autograd.grad(cubes, w, v, retain_graph=True)[0])(sg.eye(3))
    assert rows.tolist() == (3 * sg.eye(3)).tolist()
    assert not rows.requires_grad


def test_variables_of_derivatives_inside_are_nobodys_outside():
    w, x = sg.tensor(np.linspace(0.5, 1.5, 4)), sg.tensor(_ROW)

    def pulled(row):
        _, back = sg.func.vjp(lambda v: (v * row).sum() ** 2, w)
        return back(sg.ones((), dtype=sg.float64))[0]

    found = sg.func.vmap(pulled)(x)
    assert not found.requires_grad
    np.testing.assert_allclose(found, np.stack([pulled(row) for row in x]), rtol=1e-12)
    w.requires_grad_()
    assert sg.func.vmap(pulled)(x).requires_grad


@pytest.mark.parametrize("name", CASES)
def test_forward_mode_by_what_a_mapped_function_captures_takes_one_run(name):
    function, in_dims, batch = CASES[name]
    counted, calls = _count(function)
    v, way, x = sg.tensor(np.linspace(0.5, 1.5, 4)), sg.tensor(np.array([1.0, -2.0, 0.5, 3.0])), sg.tensor(batch)
    value, moved = sg.func.jvp(lambda v: sg.func.vmap(lambda row: counted(v, row))(x), (v,), (way,))
    assert len(calls) == 1
    rows = [sg.func.jvp(lambda v, row=row: function(v, row), (v,), (way,)) for row in x]
    parts = zip(*[[p if isinstance(p, tuple) else (p,) for p in row] for row in rows], strict=True)
    for got, wanted in zip((value, moved), parts, strict=True):
        for a, b in zip(got if isinstance(got, tuple) else (got,), zip(*wanted, strict=True), strict=True):
            assert a.dtype == b[0].dtype
            np.testing.assert_allclose(a, np.stack([e.numpy() for e in b]), rtol=1e-9, atol=1e-12)


def test_a_hessian_by_what_a_mapped_call_shares_takes_one_run():
    counted, calls = _count(lambda w, x: sg.sin(w * x).prod())
    w, x = sg.tensor(np.linspace(0.5, 1.5, 4)), sg.tensor(_ROW)
    found = sg.func.hessian(lambda w: sg.func.vmap(counted, in_dims=(None, 0))(w, x).sum())(w)
    assert len(calls) == 1
    np.testing.assert_allclose(found, sum(sg.func.hessian(lambda w, r=r: sg.sin(w * r).prod())(w) for r in x))


SECOND = {"hessian": hessian, "forward": lambda f: jacfwd(grad(f)), "reverse": lambda f: jacrev(jacrev(f))}


@pytest.mark.parametrize("product", [sg.prod, lambda x: (x.cumprod(0) * sg.arange(3.0)).sum()], ids=["all", "running"])
@pytest.mark.parametrize("second", SECOND.values(), ids=SECOND)
def test_second_derivatives_of_products_some_of_which_have_a_zero(product, second):
    """Whether products are divided by their factors is one decision for both parts of a derivative, in each example."""
    x = sg.tensor([[0.5, -0.3, 0.8], [0.5, 0.0, 0.8], [1.0, 2.0, 3.0]], dtype=sg.float64)
    alone = np.stack([second(product)(row).numpy() for row in x])
    for rows in ([0, 1, 2], [1, 0, 2]):
        np.testing.assert_allclose(vmap(second(product))(x[rows]).numpy(), alone[rows], atol=1e-15)


def test_formulas_of_mapped_gradients_have_the_names_of_what_all_examples_share():
    """The variable of the gradient was c1."""
    w, x = sg.tensor(W, name="w"), sg.tensor(X, name="x")
    others = {"named": w, "parameter": sg.tensor(W), "another of that name": w * 2}
    for who, shared in others.items():
        found = vmap(lambda v, r: grad(lambda w: (w @ r) ** 2 + 0 * w[0])(v), in_dims=(None, 0))(shared, x)
        assert found.latex() == r"2 \operatorname{diag}\left(x w\right) x", who
    both = vmap(lambda r: grad(lambda w: (w @ r) ** 2)(w * 2) + w)(x)
    assert {str(s) for s in both.expr.free_symbols} >= {"w", "w_2", "x"}
    assert sg.verify(both).ok


@pytest.mark.parametrize("name", ["symgrad", pytest.param("torch", marks=pytest.mark.peer)])
def test_a_pass_over_a_graph_from_outside_goes_over_it_once_for_all_examples(name):
    """Run one by one, the first example freed the graph that the second one needed; the last one frees it."""
    t = pytest.importorskip(name)
    w = t.tensor([1.0, 2.0], requires_grad=True)
    y = (w * w).exp()
    rows = t.vmap(lambda g: t.autograd.grad([y], [w], [g], retain_graph=False)[0], randomness="different")(t.eye(2))
    assert t.allclose(rows, t.diag((2 * w * y).detach()))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
