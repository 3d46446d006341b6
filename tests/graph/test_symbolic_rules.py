"""Custom functions that state their formula: everything formal follows the rule, and a false rule is told."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import CompileError, FormulaError


def leaf(*data, name="x", dtype=sg.float64):
    return sg.tensor(data, dtype=dtype, requires_grad=True, name=name)


def numeric(forward, backward, rule=None):
    """A function by way of NumPy, which no formula can follow, of one tensor."""

    class Numeric(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x, *rest):
            ctx.x, ctx.rest = x.detach().numpy().copy(), rest
            return sg.tensor(forward(ctx.x, *rest))

        @staticmethod
        def backward(ctx, g):
            return sg.tensor(g.numpy() * backward(ctx.x, *ctx.rest)), *(None for _ in ctx.rest)

    if rule is not None:
        Numeric.symbolic = staticmethod(rule)
    return Numeric


class Sinh(sg.autograd.Function):
    """sinh through NumPy, at the top of a module so that pickles find it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return sg.tensor(np.sinh(x.detach().numpy()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return sg.tensor(g.detach().numpy() * np.cosh(x.detach().numpy()))

    @staticmethod
    def symbolic(x):
        return sg.sinh(x)


def test_formula_latex_and_derivative_follow_the_rule():
    x = leaf(0.5, 1.0)
    y = (Sinh.apply(2 * x) * x).sum()
    assert str(y.expr) == "x @ sinh(2*x)"
    assert r"\sinh\left(2 x\right)" in y.latex()
    y.backward()
    assert str(x.grad.expr) == "2*x*cosh(2*x) + sinh(2*x)"
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach() * np.cosh([1.0, 2.0]) + np.sinh([1.0, 2.0]))


def test_many_digits_follow_the_rule():
    x = leaf(0.5)
    y = Sinh.apply(x)
    y.sum().backward()
    assert sp.Abs(y.evalf(30)[0] - sp.sinh(sp.Rational(1, 2)).evalf(35)) < sp.Float(10) ** -28
    assert sp.Abs(x.grad.evalf(30)[0] - sp.cosh(sp.Rational(1, 2)).evalf(35)) < sp.Float(10) ** -28


def test_higher_derivatives_are_those_of_the_rule():
    x = leaf(0.5, 1.0)
    f = sg.compile(sg.func.hessian(lambda x: (Sinh.apply(x) ** 2).sum()), x)
    np.testing.assert_allclose(f(x.detach().numpy()), np.diag(2 * np.cosh([1.0, 2.0])))


def test_programs_and_files_follow_the_rule(tmp_path):
    x = leaf(0.5, 1.0)
    program = sg.compile(sg.func.grad(lambda x: Sinh.apply(x).sum()), x)
    assert "np.cosh" in program.source
    assert "Sinh" not in program.source
    np.testing.assert_allclose(program(np.array([3.0])), np.cosh([3.0]))
    program.save(tmp_path / "made.py")
    done = subprocess.run([sys.executable, "-I", tmp_path / "made.py", "--selftest"], capture_output=True, check=False)
    assert done.returncode == 0


def test_function_without_a_rule_cannot_be_compiled_and_says_what_helps():
    x = leaf(1.0)
    opaque = numeric(np.exp, np.exp)
    with pytest.raises(CompileError, match=r"Numeric\(\) cannot be compiled.*symbolic"):
        sg.compile(lambda x: opaque.apply(x).sum(), x)
    y = opaque.apply(x)
    y.sum().backward()
    assert str(y.expr) == "Numeric(x)"
    with pytest.raises(CompileError, match="NumericBackward"):
        sg.compile(x.grad)


def test_function_of_tensor_operations_compiles():
    class Cube(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = leaf(1.0, 2.0)
    np.testing.assert_allclose(sg.compile(lambda x: Cube.apply(x).sum(), x)(np.array([1.0, 2.0])), 9)
    np.testing.assert_allclose(sg.compile(sg.func.grad(lambda x: Cube.apply(x).sum()), x)(np.array([3.0])), [27])


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ((-1.0, 2.0), r"in 1 of 2 entries, first at \[0\]: the rule gives 1\.0, forward 0\.0 \(argument 0 is -1\.0\)"),
        ((1.0, 2.0), None),
    ],
)
def test_rule_that_contradicts_forward_is_told_where_it_does(point, told):
    function = numeric(lambda x: np.maximum(x, 0), lambda x: (x > 0) * 1.0, sg.abs)
    y = function.apply(leaf(*point))
    if told is None:
        assert str(y.expr) == "Abs(x)"
        return
    for ask in (lambda: y.expr, y.latex, lambda: y.evalf(20), lambda: sg.compile(y)):
        with pytest.raises(FormulaError, match=told):
            ask()


def test_rule_of_another_shape_or_count_is_told():
    x = leaf(1.0, 2.0)
    with pytest.raises(FormulaError, match=r"the shape is \[\] by the rule, and \[2\] by forward"):
        _ = numeric(np.exp, np.exp, lambda x: sg.exp(x).sum()).apply(x).expr
    with pytest.raises(FormulaError, match="must return one formula, as forward gives one.*returned 2 things"):
        _ = numeric(np.exp, np.exp, lambda x: (x, x)).apply(x).expr


def test_rules_that_are_no_formulas_are_told():
    x = leaf(1.0, 2.0)
    for rule, told in (
        (lambda x: x if x > 0 else -x, "truth value.*where\\(\\) instead of if"),
        (lambda x: x.numpy(), "numpy"),
        (lambda x: sp.Symbol("x"), "from_sympy"),  # noqa: ARG005
        (lambda x: sg.tensor(1.0), "returned a Tensor, which is no formula"),  # noqa: ARG005
    ):
        with pytest.raises(FormulaError, match=told):
            _ = numeric(np.exp, np.exp, rule).apply(x).expr


def test_rule_may_know_nothing():
    assert str(numeric(np.exp, np.exp, lambda x: None).apply(leaf(1.0)).expr) == "Numeric(x)"  # noqa: ARG005


def test_rule_of_sympy():
    s = sp.Symbol("s")
    y = numeric(np.exp, np.exp, sg.from_sympy(sp.exp(s), s)).apply(leaf(1.0, 2.0))
    assert str(y.expr) == "exp(x)"


def test_rounding_and_overflow_are_no_contradiction():
    """The rule is compared in many digits where floats part the two."""
    softplus = numeric(lambda x: np.logaddexp(0, x), lambda x: 1 / (1 + np.exp(-x)), lambda x: sg.log(1 + sg.exp(x)))
    x = leaf(1000.0, -40.0, 1.0)
    y = softplus.apply(x)
    y.sum().backward()
    assert str(y.expr) == "softplus(x)"
    assert "Backward" not in str(x.grad.expr)


@pytest.mark.parametrize("dtype", [sg.float16, sg.float32, sg.complex64])
def test_dtypes(dtype):
    rule = numeric(lambda x: (x * x).astype(x.dtype), lambda x: (2 * x.conj()).astype(x.dtype), lambda x: x * x)
    x = leaf(0.3, -1.7, dtype=dtype)
    y = rule.apply(x)
    assert str(y.expr) == "x**2"
    assert y.term.dtype == dtype
    y.abs().sum().backward()
    assert "Backward" not in str(x.grad.expr)


def test_result_wider_than_the_rules():
    """NumPy may widen; the formula has the dtype of the number."""
    y = numeric(lambda x: np.sin(x.astype(float)), np.cos, sg.sin).apply(leaf(0.5, 1.0, dtype=sg.float32))
    assert (str(y.expr), y.dtype, y.term.dtype) == ("sin(x)", sg.float64, sg.float64)


def test_constants_and_sizes():
    rule = numeric(lambda x, k: x**k / x.size, lambda x, k: k * x ** (k - 1) / x.size, lambda x, k: x**k / x.shape[0])
    x = leaf(1.0, 2.0, 3.0)
    y = rule.apply(x, 3).sum()
    y.backward()
    assert str(y.expr) == "sum(x**3)/n"
    assert str(x.grad.expr) == "3*x**2/n"


def test_backward_that_is_not_the_derivative_stays_what_it_is():
    """A straight-through gradient: by formulas where backward is made of them, else under its own name."""
    through_numpy = numeric(np.round, np.ones_like, sg.round)
    x = leaf(0.4, 1.6)
    y = through_numpy.apply(x)
    y.sum().backward()
    assert str(y.expr) == "round(x)"
    assert str(x.grad.expr) == "NumericBackward(ones(n), x)"

    class Through(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return 2 * g

        @staticmethod
        def symbolic(x):
            return sg.round(x)

    x = leaf(0.4, 1.6)
    Through.apply(x).sum().backward()
    assert str(x.grad.expr) == "2*ones(n)"


def test_backward_of_formulas_beside_a_forward_of_values():
    """What ``setup_context`` saves is known without ``forward``: so is what ``backward`` makes of it."""

    class Rounded(sg.autograd.Function):
        @staticmethod
        def forward(x, step):
            return sg.tensor(np.round(x.detach().numpy() / step) * step)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0], output)
            ctx.step = inputs[1]

        @staticmethod
        def backward(ctx, g):
            x, out = ctx.saved_tensors
            return g * (1 + (x - out) / ctx.step), None

        @staticmethod
        def symbolic(x, step):
            return sg.round(x / step) * step

    x = leaf(0.4, 1.7)
    Rounded.apply(x, 0.5).sum().backward()
    assert "Backward" not in str(x.grad.expr)
    np.testing.assert_allclose(sg.compile(x.grad)(np.array([0.4, 1.7])), x.grad, rtol=1e-12)


class Polar(sg.autograd.Function):
    """Two outputs by way of NumPy."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.at = x.detach().numpy(), y.detach().numpy()
        a, b = ctx.at
        return sg.tensor(np.hypot(a, b)), sg.tensor(np.arctan2(b, a))

    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.at
        r = np.hypot(a, b)
        return sg.tensor(g.numpy() * a / r - h.numpy() * b / r**2), sg.tensor(g.numpy() * b / r + h.numpy() * a / r**2)

    @staticmethod
    def symbolic(x, y):
        return sg.sqrt(x**2 + y**2), sg.atan2(y, x)


def test_several_outputs():
    x, y = leaf(3.0, 1.0), leaf(4.0, -1.0, name="y")
    r, angle = Polar.apply(x, y)
    assert str(angle.expr) == "atan2(y, x)"
    (r.sum() + (angle**2).sum()).backward()
    assert "Backward" not in str(x.grad.expr)
    program = sg.compile(x.grad, ["x", "y"])
    np.testing.assert_allclose(program(x.detach().numpy(), y.detach().numpy()), x.grad)


def test_one_output_may_be_left_out():
    class Half(Polar):
        @staticmethod
        def symbolic(x, y):
            return sg.sqrt(x**2 + y**2), None

    x, y = leaf(3.0, 1.0), leaf(4.0, -1.0, name="y")
    r, angle = Half.apply(x, y)
    assert str(r.expr) == "sqrt(x**2 + y**2)"
    assert str(angle.expr) == "output(Half(x, y), 1)"


def test_torchs_exporter_has_a_symbolic_of_its_own():
    """``symbolic(g, …)`` makes nodes of a graph; nothing is asked of it here."""
    y = numeric(np.exp, np.exp, lambda g, x: g.op("Exp", x)).apply(leaf(1.0))
    assert str(y.expr) == "Numeric(x)"


def test_copies_and_pickles_keep_rule_and_proof():
    x = leaf(0.5, 1.0)
    y = Sinh.apply(x).sum()
    for made in (pickle.loads(pickle.dumps(y)), sg.copy_graph(y)):
        assert str(made.expr) == "sum(sinh(x))"
    y.backward()
    for made in (pickle.loads(pickle.dumps(x.grad)), copy.deepcopy(x.grad)):
        assert str(made.expr) == "cosh(x)"


def test_a_change_in_place_after_the_call_is_no_contradiction():
    x = leaf(0.5, 1.0)
    y = Sinh.apply(x)
    with sg.no_grad():
        x += 1
    assert str(y.expr) == "sinh(x)"


def test_without_the_question_nothing_runs():
    calls = []

    def rule(x):
        calls.append(x)
        return sg.exp(x)

    x = leaf(1.0)
    y = numeric(np.exp, np.exp, rule).apply(x)
    y.sum().backward()
    assert not calls
    assert str(x.grad.expr) == "exp(x)"


def test_backward_is_shown_where_only_forward_needs_values():
    """The result stands in the formula as a function with a name, and saving it for forward mode keeps no cycle."""

    class Root(sg.autograd.Function):
        @staticmethod
        def forward(x):
            return sg.tensor(np.sqrt(x.numpy()))

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            (out,) = ctx.saved_tensors
            return g / (2 * out)

    x = sg.tensor([4.0, 9.0], requires_grad=True, name="x")
    y = Root.apply(x)
    (g,) = sg.autograd.grad(y.sum(), x, create_graph=True)
    assert str(g.expr) == "1/(2*Root(x))"
    (h,) = sg.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), -0.25 * np.array([4.0, 9.0]) ** -1.5, rtol=1e-6)
    kept = weakref.ref(y)
    del y, g
    assert kept() is None


@pytest.mark.parametrize("name", ["neg", "exp", "sign", "det", "permute", "symbol", "output"])
def test_functions_with_names_of_ops_are_not_taken_for_these(name):
    function = type(name, (numeric(lambda x: np.sort(x) * 3, np.cos),), {})
    x = leaf(0.3, 0.1, 2.0)
    value = function.apply(x * 1)
    y = (value * x).sum()
    (g,) = sg.autograd.grad(y, x)
    assert value.grad_fn.name() == f"{name}Backward"
    assert str(y.expr) == f"x @ {name}_(x)"
    assert set(str(g.expr).split(" + ")) == {f"{name}_(x)", f"{name}Backward(x, x)"}


def test_hooks_with_names_of_ops_are_not_taken_for_these():
    def neg(g):
        return sg.tensor(np.sort(g.numpy()))

    x = leaf(0.3, 0.1, 2.0)
    x.register_hook(neg)
    (x**3).sum().backward()
    assert str(x.grad.expr) == "neg_(3*x**2, Hooks)"
