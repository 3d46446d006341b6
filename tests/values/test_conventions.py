"""Derivatives at kinks under every convention: the number, the formula, the program, and the peers themselves."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import KinkError
from symgrad.formula.term import evaluate
from symgrad.ops.rules.kinks import KINKS, NAMES, usual

F = sg.nn.functional
CALLS = {
    "abs": (sg.abs, [0.0]),
    "relu": (sg.relu, [0.0]),
    "maximum": (sg.maximum, [1.0, 1.0]),
    "minimum": (sg.minimum, [1.0, 1.0]),
    "fmax": (sg.fmax, [1.0, 1.0]),
    "fmin": (sg.fmin, [1.0, 1.0]),
    "clamp_min": (sg.clamp_min, [1.0, 1.0]),
    "clamp_max": (sg.clamp_max, [2.0, 2.0]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.0), [0.0]),
    "elu": (lambda x: F.elu(x, 0.0), [0.0]),
    "hardtanh_min": (F.hardtanh, [-1.0]),
    "hardtanh_max": (F.hardtanh, [1.0]),
    "relu6_min": (F.relu6, [0.0]),
    "relu6_max": (F.relu6, [6.0]),
    "softshrink_min": (F.softshrink, [-0.5]),
    "softshrink_max": (F.softshrink, [0.5]),
    "hardshrink_min": (F.hardshrink, [-0.5]),
    "hardshrink_max": (F.hardshrink, [0.5]),
    "threshold": (lambda x: F.threshold(x, 0.5, 2.0), [0.5]),
    "norm": (lambda x: sg.norm(x.reshape(1)), [0.0]),
    "std": (lambda x: sg.std(sg.stack([x, x * 0 + 3])), [3.0]),
    "hypot": (sg.hypot, [0.0, 0.0]),
    "atan2": (sg.atan2, [0.0, 0.0]),
    "where": (lambda x: sg.where(x > 0, sg.sqrt(x), 0), [0.0]),
    "composed": (lambda x: sg.sqrt((x.reshape(1) ** 2).sum()), [0.0]),
}


@pytest.fixture(autouse=True)
def torch_again():
    yield
    sg.conventions("symgrad")
    assert usual()


@pytest.mark.parametrize("convention", NAMES[:-1])
@pytest.mark.parametrize("name", KINKS)
def test_every_kink_under_every_convention(name, convention):
    function, point = CALLS[name]
    want = KINKS[name].shares(convention)
    leaves = [sg.tensor(np.array(v), requires_grad=True, name=f"v{k}") for k, v in enumerate(point)]
    arrays = {f"v{k}": np.array(v) for k, v in enumerate(point)}
    every = tuple(range(len(leaves)))
    with sg.conventions(convention):
        function(*leaves).backward()
        recorded = sg.autograd.grad(function(*leaves), leaves, create_graph=True)
        program = sg.compile(sg.func.grad(lambda *xs: function(*xs), argnums=every), *leaves)
    # The formula and the program are asked later: what was in force when the derivative was taken, counts.
    compiled = program(*(np.array(v) for v in point))
    for x, second, third, expected in zip(leaves, recorded, compiled, want, strict=True):
        expected = float(expected)
        for got in (x.grad._value, evaluate(x.grad.term, arrays), second._value, third):
            np.testing.assert_array_equal(np.asarray(got, float), expected)


@pytest.mark.parametrize("convention", ["symgrad", "torch", "jax", "min-norm", "left", "right"])
def test_functions_with_the_kinks_of_others(convention):
    """prelu, rrelu and hardsigmoid, and the norms, follow the rows of the functions that they are made of."""
    share = float(KINKS["leaky_relu"].shares(convention)[0])
    above = float(KINKS["elu"].shares(convention)[0])
    low, high = (float(KINKS[f"relu6_{end}"].shares(convention)[0]) / 6 for end in ("min", "max"))
    sign, flat = (float(KINKS[name].shares(convention)[0]) for name in ("abs", "norm"))
    quarter = sg.tensor([0.25], dtype=sg.float64)
    cases = [
        (lambda x: F.leaky_relu(x, 0.25), 0.0, share + (1 - share) / 4),
        (lambda x: F.prelu(x, quarter), 0.0, share + (1 - share) / 4),
        (lambda x: F.rrelu(x, 0.25, 0.25), 0.0, share + (1 - share) / 4),
        (F.hardsigmoid, -3.0, low),
        (F.hardsigmoid, 3.0, high),
        (F.hardswish, -3.0, -3 * low),
        (F.hardswish, 3.0, 1 + 3 * high),
        (lambda x: F.elu(x, 0.25), 0.0, above + (1 - above) / 4),
        (F.selu, 0.0, (above + (1 - above) * 1.6732632423543772) * 1.0507009873554805),
        *((lambda x, p=p: sg.linalg.vector_norm(x.reshape(1), p), 0.0, sign) for p in (1, np.inf, -np.inf)),
        *((lambda x, p=p: sg.linalg.vector_norm(x.reshape(1), p), 0.0, flat) for p in (2, 3)),
    ]
    with sg.conventions(convention):
        for function, point, want in cases:
            x = sg.tensor(np.float64(point), requires_grad=True, name="x")
            function(x).backward()
            program = sg.compile(sg.func.grad(function), np.float64(point + 0.125))
            formula = evaluate(x.grad.term, {"x": np.float64(point), "c1": np.float64(0.25)})
            for got in (x.grad._value, formula, program(np.float64(point))):
                np.testing.assert_allclose(np.asarray(got, float), want, rtol=1e-15)
            np.testing.assert_allclose(sg.func.jvp(function, (x.detach(),), (1.0,))[1], want, rtol=1e-15)


@pytest.mark.parametrize("convention", ["symgrad", "torch", "jax", "min-norm", "left", "right"])
def test_a_norm_between_the_first_and_the_second_follows_the_row(convention):
    with sg.conventions(convention):
        x = sg.tensor([0.0], dtype=sg.float64, requires_grad=True)
        sg.linalg.vector_norm(x, 1.5).backward()
    np.testing.assert_array_equal(x.grad, [float(KINKS["norm"].shares(convention)[0])])


def test_smaller_entries_of_the_largest_norm_are_no_kinks():
    x = sg.tensor([0.0, 3.0], requires_grad=True)
    with sg.conventions("raise"):
        sg.linalg.vector_norm(x, np.inf).backward()
        np.testing.assert_array_equal(x.grad, [0, 1])
        with pytest.raises(KinkError, match="abs: 1 of 2 entries"):
            sg.linalg.vector_norm(x, 1).backward()


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "hardtanh_max", "relu6_min", "softshrink_max", "threshold"])
def test_kinks_chosen_in_the_forward_pass_are_refused_there(name):
    function, (point,) = CALLS[name]
    with sg.conventions("torch", **{name: "raise"}):
        with pytest.raises(KinkError, match=f"{name}: 1 of 1 entries"):
            function(sg.tensor(point, requires_grad=True))
        with pytest.raises(KinkError, match=name):
            sg.func.jvp(function, (point,), (1.0,))
        function(sg.tensor(point))  # no derivative is taken


def test_away_from_kinks_nothing_changes():
    x = sg.tensor([-1.5, 0.5, 2.0], requires_grad=True)
    f = lambda: (sg.abs(x) + sg.relu(x) * x.clamp(-1, 1) + sg.maximum(x, x.flip(0) + 0.1)).sum()  # noqa: E731
    (want,) = sg.autograd.grad(f(), x)
    for name in NAMES:
        with sg.conventions(name):
            np.testing.assert_array_equal(sg.autograd.grad(f(), x)[0], want)


@pytest.mark.parametrize("dtype", [sg.float16, sg.float32, sg.float64])
def test_gradients_keep_their_dtype(dtype):
    for name in ("jax", "left", "right"):
        for function, point in CALLS.values():
            leaves = [sg.tensor([v], dtype=dtype, requires_grad=True) for v in point]
            with sg.conventions(name):
                function(*leaves).sum().backward()
            assert all(x.grad.dtype == dtype for x in leaves)


def test_raise_names_the_function_and_the_entries():
    x = sg.tensor([0.0, 1.0, 0.0], requires_grad=True)
    with sg.conventions("raise"):
        with pytest.raises(KinkError, match=r"abs: 2 of 3 entries sit on its kink \(x = 0\)"):
            x.abs().sum().backward()
        with pytest.raises(KinkError, match=r"amax: 1 of 1 entries sit on its kink \(ties\)"):
            sg.amax(x * 0).backward()
        with pytest.raises(KinkError, match="relu"):
            sg.autograd.grad(x.relu().sum(), x, create_graph=True)
        (x[1:2].abs() + sg.amax(x)).sum().backward()


def test_single_functions_are_overridden():
    x = sg.tensor(0.0, requires_grad=True)
    with sg.conventions(abs="jax", relu=0.5):
        assert sg.autograd.grad(x.abs(), x)[0] == 1
        assert sg.autograd.grad(x.relu(), x)[0] == 0.5
        (g,) = sg.autograd.grad(sg.maximum(x, 0 * x), x)
        with sg.conventions(relu=0.25):
            assert sg.autograd.grad(x.relu(), x)[0] == 0.25
            assert sg.autograd.grad(x.abs(), x)[0] == 1
        assert sg.autograd.grad(x.relu(), x)[0] == 0.5
        with sg.conventions(maximum=(0.25, 0.75)):
            y = sg.tensor(0.0, requires_grad=True)
            assert [float(g) for g in sg.autograd.grad(sg.maximum(x, y), (x, y))] == [0.25, 0.75]
    assert sg.autograd.grad(x.relu(), x)[0] == 0
    for bad in ({"tanh": 0}, {"abs": "numpy"}, {"abs": (1, 2)}, {"where": 0.5}):
        with pytest.raises(ValueError, match="conventions"):
            sg.conventions(**bad)
    with pytest.raises(ValueError, match="'symgrad', 'torch', 'jax'"):
        sg.conventions("tensorflow")


def test_set_for_good_and_shown():
    sg.conventions("jax")
    x = sg.tensor(0.0, requires_grad=True)
    assert sg.autograd.grad(x.abs(), x)[0] == 1
    shown = repr(sg.conventions())
    row = next(line for line in shown.splitlines() if line.startswith("abs"))
    assert row.split() == ["abs", "x", "=", "0", "0", "0", "1", "0", "-1", "1", "1"]


def test_halves_are_exact_in_formulas():
    x = sg.tensor([0.0, 2.0], requires_grad=True, name="x")
    with sg.conventions(relu=0.5):
        (g,) = sg.autograd.grad(x.relu().sum(), x)
    assert "0.5" not in str(g.expr)
    assert np.allclose(g, [0.5, 1.0])


def test_complex_gradients_of_both_kinds():
    z = sg.tensor(np.array(1 + 2j), requires_grad=True, name="z")
    for name, want in (("torch", 2 + 4j), ("jax", 2 - 4j)):
        z.grad = None
        with sg.conventions(name):
            (z.abs() ** 2).backward()
            (recorded,) = sg.autograd.grad(z.abs() ** 2, z, create_graph=True)
        values = {"z": np.array(1 + 2j)}
        np.testing.assert_allclose(
            [z.grad.item(), recorded.item(), complex(evaluate(z.grad.term, values))], want, rtol=1e-12
        )


class Square(sg.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0].conj()


def test_passes_inside_of_derivatives_are_not_turned():
    rng = np.random.default_rng(0)
    x, w, a, t = (rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in ((1, 2, 5), (3, 2, 2), (3, 3), (3, 3)))
    tangents, gradients = [], []
    for name in ("torch", "jax"):
        with sg.conventions(name):
            leaf = sg.tensor(w, requires_grad=True)
            (g,) = sg.autograd.grad((sg.nn.functional.conv1d(sg.tensor(x), leaf).abs() ** 2).sum(), leaf)
            gradients.append(g.numpy())
            functions = (sg.linalg.inv, sg.linalg.det, Square.apply)
            tangents.append([sg.func.jvp(f, (sg.tensor(a),), (sg.tensor(t),))[1] for f in functions])
    np.testing.assert_allclose(gradients[1], gradients[0].conj())
    for torchs, jaxs in zip(*tangents, strict=True):
        np.testing.assert_allclose(jaxs, torchs)


def test_gradients_remember_their_convention():
    x = sg.tensor(0.0, requires_grad=True, name="x")
    with sg.conventions("jax"):
        x.abs().backward()
    for copied in (pickle.loads(pickle.dumps(x.grad)), copy.deepcopy(x.grad)):
        assert evaluate(copied.term, {"x": np.array(0.0)}) == 1


@pytest.mark.peer
@pytest.mark.parametrize("name", KINKS)
def test_torch_says_what_the_table_says(name):
    torch = pytest.importorskip("torch")
    call = {
        "clamp_min": lambda x, lo: torch.clamp(x, min=lo),
        "clamp_max": lambda x, hi: torch.clamp(x, max=hi),
        "leaky_relu": lambda x: torch.nn.functional.leaky_relu(x, 0.0),
        **dict.fromkeys(("hardtanh_min", "hardtanh_max"), torch.nn.functional.hardtanh),
        **dict.fromkeys(("relu6_min", "relu6_max"), torch.nn.functional.relu6),
        **dict.fromkeys(("softshrink_min", "softshrink_max"), torch.nn.functional.softshrink),
        "elu": lambda x: torch.nn.functional.elu(x, 0.0),
        **dict.fromkeys(("hardshrink_min", "hardshrink_max"), torch.nn.functional.hardshrink),
        "threshold": lambda x: torch.nn.functional.threshold(x, 0.5, 2.0),
        "norm": lambda x: torch.linalg.vector_norm(x.reshape(1)),
        "std": lambda x: torch.std(torch.stack([x, x * 0 + 3])),
        "where": lambda x: torch.where(x > 0, torch.sqrt(x), 0),
        "composed": lambda x: torch.sqrt((x.reshape(1) ** 2).sum()),
    }.get(name) or getattr(torch, name)
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in CALLS[name][1]]
    found = [g.item() for g in torch.autograd.grad(call(*leaves), leaves)]
    np.testing.assert_array_equal(found, [float(v) for v in KINKS[name].torch])


@pytest.mark.peer
@pytest.mark.parametrize("name", KINKS)
def test_jax_says_what_the_table_says(name):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    call = {
        "relu": jax.nn.relu,
        "atan2": jnp.arctan2,
        "clamp_min": lambda x, lo: jnp.clip(x, lo, None),
        "clamp_max": lambda x, hi: jnp.clip(x, None, hi),
        "leaky_relu": lambda x: jax.nn.leaky_relu(x, 0.0),
        **dict.fromkeys(("hardtanh_min", "hardtanh_max"), jax.nn.hard_tanh),
        **dict.fromkeys(("relu6_min", "relu6_max"), jax.nn.relu6),
        "elu": lambda x: jax.nn.elu(x, 0.0),
        # JAX has none of the others; these are torch's definitions in its functions.
        **dict.fromkeys(("hardshrink_min", "hardshrink_max"), lambda x: jnp.where(abs(x) > 0.5, x, 0)),
        "threshold": lambda x: jnp.where(x > 0.5, x, 2.0),
        **dict.fromkeys(
            ("softshrink_min", "softshrink_max"), lambda x: jnp.where(abs(x) > 0.5, x - jnp.sign(x) * 0.5, 0)
        ),
        "norm": lambda x: jnp.linalg.norm(x.reshape(1)),
        "std": lambda x: jnp.std(jnp.stack([x, x * 0 + 3]), ddof=1),
        "where": lambda x: jnp.where(x > 0, jnp.sqrt(x), 0),
        "composed": lambda x: jnp.sqrt((x.reshape(1) ** 2).sum()),
    }.get(name) or getattr(jnp, name)
    point = CALLS[name][1]
    found = [float(g) for g in jax.grad(call, argnums=tuple(range(len(point))))(*point)]
    np.testing.assert_array_equal(found, [float(v) for v in KINKS[name].jax])


def test_relu_says_when_a_convention_comes_too_late():
    x = sg.tensor([0.0, 1.0], requires_grad=True)
    out = x.relu().sum()
    with sg.conventions("right"), pytest.raises(KinkError, match="choose conventions before the forward pass"):
        out.backward()


# ------------------------------------------------------------------------------------------ torch's nan, on request


LEAKS = {
    "sqrt": lambda t, x: t.where(x > 0, x.sqrt(), 0 * x),
    "log": lambda t, x: t.where(x > 0, x.log() * x, x),
    "division": lambda t, x: t.where(x != 0, t.sin(x) / x, 1 + 0 * x),
    "nested": lambda t, x: t.where(x > 1, x, t.where(x > 0, x.sqrt(), x)) * 2,
    "method": lambda t, x: x.sqrt().where(x > 0, x),
    "no leak": lambda t, x: t.where(x > 0, x.exp(), x.tanh()),
    "root": lambda t, x: (x * x).sqrt(),
    "norm": lambda t, x: (x * x).sum().sqrt() * x,
    "softplus": lambda t, x: t.log1p(t.exp(1000 * x)),
    "shares": lambda t, x: t.exp(1000 * x) / (1 + t.exp(1000 * x)),
    "relu": lambda t, x: x.relu() * x.abs(),
}


@pytest.mark.peer
@pytest.mark.parametrize("point", [(0.0, 1.0, 4.0), (0.0, 0.0, 0.0), (0.5, 2.0, 3.0)])
@pytest.mark.parametrize("name", LEAKS)
@np.errstate(all="ignore")
def test_torchs_nan_comes_on_request(name, point):
    torch = pytest.importorskip("torch")
    want = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    LEAKS[name](torch, want).sum().backward()
    x = sg.tensor(point, dtype=sg.float64, requires_grad=True, name="x")
    with sg.conventions("torch"):
        LEAKS[name](sg, x).sum().backward()
        (recorded,) = sg.autograd.grad(LEAKS[name](sg, x).sum(), x, create_graph=True)
        program = sg.compile(sg.func.grad(lambda x: LEAKS[name](sg, x).sum()), x)
    compiled = program(np.array(point))
    for got in (x.grad._value, recorded._value, compiled, evaluate(x.grad.term, {"x": np.array(point)}, {"n": 3})):
        np.testing.assert_allclose(got, want.grad.numpy(), rtol=1e-12)
    if name != "log":  # whose derivative is infinite there
        x.grad = None
        LEAKS[name](sg, x).sum().backward()
        assert np.isfinite(x.grad._value).all()


def test_where_alone_may_leak():
    x = sg.tensor([0.0, 4.0], dtype=sg.float64, requires_grad=True, name="x")
    with sg.conventions(where="torch"):
        y = sg.where(x > 0, x.sqrt(), 0)
        assert np.isnan(sg.autograd.grad(y.sum(), x, retain_graph=True)[0]._value).tolist() == [True, False]
        assert sg.autograd.grad((x * x).sqrt().sum(), x)[0].tolist() == [0.0, 1.0]
    assert np.isnan(sg.autograd.grad(y.sum(), x, retain_graph=True)[0]._value).tolist() == [True, False]
    made = pickle.loads(pickle.dumps((x, y)))
    assert np.isnan(sg.autograd.grad(made[1].sum(), made[0])[0]._value).tolist() == [True, False]
    assert sg.autograd.grad(sg.where(x > 0, x.sqrt(), 0).sum(), x)[0].tolist() == [0.0, 0.25]


def test_the_librarys_own_branches_never_leak():
    """What is made of ``where`` inside of the library has torch's derivatives under torch's convention, too."""
    x = sg.tensor([0.0, 0.5, 1.0], dtype=sg.float64, requires_grad=True)
    for f in (sg.special.xlogy, lambda x, y: sg.nn.functional.kl_div(x, y, reduction="sum"), sg.copysign, sg.ldexp):
        (usual_one,) = sg.autograd.grad(f(x, sg.ones(3, dtype=sg.float64)).sum(), x)
        with sg.conventions("torch"):
            (torchs,) = sg.autograd.grad(f(x, sg.ones(3, dtype=sg.float64)).sum(), x)
        np.testing.assert_array_equal(torchs, usual_one)


def test_functions_that_jump_keep_their_values_and_those_without_a_kink_are_let_pass():
    points = sg.tensor([-0.5, 0.5, 3.0], dtype=sg.float64)
    with sg.conventions("right"):
        np.testing.assert_array_equal(F.threshold(points, 0.5, 7.0), [7.0, 7.0, 3.0])
        np.testing.assert_array_equal(F.hardshrink(points), [0.0, 0.0, 3.0])
        np.testing.assert_allclose(F.hardswish(points), [-0.625 / 3, 0.875 / 3, 3.0])
    x = sg.tensor([0.0], requires_grad=True)
    with sg.conventions("raise"):
        (F.elu(x) + F.celu(x, 2.0)).backward()
        for call in (F.selu, lambda x: F.elu(x, 2.0), lambda x: F.hardswish(x - 3), lambda x: F.hardshrink(x, 0.0)):
            with pytest.raises(KinkError, match="1 of 1 entries"):
                call(x)
    assert x.grad == 2
