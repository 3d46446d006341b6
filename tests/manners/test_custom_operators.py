"""torch.library: functions with a name and a schema, and the gradients and rules for batches registered for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import symgrad

pytestmark = pytest.mark.filterwarnings("ignore")


OWN = object()
"""Stands for the result that most operators have, one tensor."""


def typed(t, fn, result=OWN):
    """The function with types of the module under test on its parameters, as ``t.Tensor`` is not known beforehand."""
    kinds = {"x": t.Tensor, "y": t.Tensor, "xs": list[t.Tensor], "k": float, "p": int}
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount + fn.__code__.co_kwonlyargcount]
    fn.__annotations__ = {**{name: kinds[name] for name in names}, "return": t.Tensor if result is OWN else result}
    return fn


def operator(t, name, fn, result=OWN, changes=()):
    return t.library.custom_op(f"manners::{name}", typed(t, fn, result), mutates_args=changes)


def sine(t, name="sine"):
    op = operator(t, name, lambda x: t.from_numpy(np.sin(x.detach().numpy())))
    op.register_autograd(
        lambda ctx, g: g * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    return op


def test_gradient_of_an_operator(t):
    """Its backward is what was registered, to any order; the node bears the operator's name."""
    op = sine(t)
    x = t.tensor([0.5, 2.0], requires_grad=True)
    y = op(x)
    assert type(y.grad_fn).__name__ == "GeneratedBackwardFor_manners_sine_defaultBackward"
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = t.autograd.grad(g.sum(), x)
    assert t.allclose(g, x.cos())
    assert t.allclose(h, -x.sin())
    assert t.autograd.gradcheck(op, t.tensor([0.5, 2.0], dtype=t.float64, requires_grad=True))
    assert not op(x.detach()).requires_grad


def test_operators_by_their_names(t):
    """They are attributes of ``ops``, and register functions take their names; others are unknown."""
    operator(t, "twice", lambda x: x * 2)
    t.library.register_autograd("manners::twice", lambda ctx, g: g * 2)
    x = t.tensor(3.0, requires_grad=True)
    t.ops.manners.twice(x).backward()
    assert x.grad.item() == 2.0
    assert t.ops.manners.twice.default(x).item() == 6.0
    with pytest.raises(AttributeError, match="nothing"):
        _ = t.ops.manners.nothing
    with pytest.raises(AttributeError, match="nothing"):
        t.library.register_autograd("manners::nothing", lambda ctx, g: g)


def test_operator_without_gradient(t):
    """It is recorded all the same, and backward says what is missing."""
    op = operator(t, "bare", lambda x: x * 2)
    y = op(t.ones(2, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="Trying to backward through manners.bare.default but no autograd formula"):
        y.sum().backward()


def test_numbers_and_keywords(t):
    """setup_context sees all arguments with their defaults, floats as floats, and those by keyword apart."""
    seen = []

    def scale(x, k=2.0, *, p=1):
        return x * k**p

    def setup(ctx, inputs, keyword_only_inputs, output):
        seen.append((*inputs[1:], keyword_only_inputs))
        ctx.slope = inputs[1] ** keyword_only_inputs["p"]

    op = operator(t, "scale", scale)
    op.register_autograd(lambda ctx, g: (g * ctx.slope, None), setup_context=setup)
    for call in (lambda x: op(x, 3.0, p=2), op, lambda x: op(k=4, x=x)):
        x = t.ones(2, requires_grad=True)
        call(x).sum().backward()
        seen.append(x.grad.tolist())
    assert seen == [(3.0, {"p": 2}), [9.0] * 2, (2.0, {"p": 1}), [2.0] * 2, (4.0, {"p": 1}), [4.0] * 2]
    assert isinstance(seen[4][0], float)


def test_lists_of_tensors(t):
    """A list of tensors gets a list of gradients, and a list of results gives backward one."""
    weighted = operator(t, "weighted", lambda xs, k: sum(x * k for x in xs))

    def setup(ctx, inputs, output):
        ctx.k, ctx.count = inputs[1], len(inputs[0])

    weighted.register_autograd(lambda ctx, g: ([g * ctx.k] * ctx.count, None), setup_context=setup)
    x, y = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    weighted([x, y], 5.0).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [5.0, 5.0]

    both = operator(t, "both", lambda x: [x * 1, x * 2], list[t.Tensor])
    both.register_autograd(lambda ctx, gs: gs[0] + 2 * gs[1])
    z = t.ones(2, requires_grad=True)
    made = both(z)
    assert isinstance(made, list)
    (made[0] + made[1]).sum().backward()
    assert z.grad.tolist() == [3.0, 3.0]


def test_several_results(t):
    """They come as a tuple; backward is told which gradients are asked for."""
    asked = []

    def backward(ctx, g, h):
        asked.append(tuple(ctx.needs_input_grad))
        return g * 2 + h, h

    op = operator(t, "pair", lambda x, y: (x * 2, x + y), tuple[t.Tensor, t.Tensor])
    op.register_autograd(backward)
    x = t.ones(2, requires_grad=True)
    made = op(x, t.ones(2))
    assert isinstance(made, tuple)
    (made[0].sum() + made[1].sum()).backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert asked == [(True, False)]


def test_changes_in_place(t):
    """What an operator changes is named beforehand, and has no gradient; other results have memory of their own."""
    op = operator(t, "increase", lambda x: x.add_(1) and None, None, {"x"})
    x = t.zeros(1)
    assert op(x) is None
    assert x.tolist() == [1.0]
    assert x._version > 0
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator"):
        op.register_autograd(lambda ctx, g: g)
    for k, shown in enumerate((lambda x: x, lambda x: x[:1])):
        with pytest.raises(RuntimeError, match="may not alias any inputs"):
            operator(t, f"shown{k}", shown)(t.ones(2))


def test_batches(t):
    """A registered rule runs once on the whole batch; without one, every example runs by itself."""
    runs = []

    def cube(x):
        runs.append(tuple(x.shape))
        return x**3

    op = operator(t, "cubes", cube)
    x = t.arange(6.0).view(2, 3)
    assert t.allclose(t.func.vmap(op)(x), x**3)
    runs.clear()
    op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
    assert t.allclose(t.func.vmap(op, in_dims=1, out_dims=1)(x), x**3)
    assert runs == [(2, 3)]


def test_kernels_and_fakes(t):
    """A kernel for the CPU replaces what computes; what results look like is taken."""
    op = operator(t, "kernel", lambda x: x + 1)

    @op.register_fake
    def _(x):
        return t.empty_like(x)

    @op.register_kernel("cpu")
    def _(x):
        return x + 2

    assert op(t.zeros(1)).tolist() == [2.0]
    assert repr(op) == "<CustomOpDef(manners::kernel)>"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda op, t: op(), r"manners::sine2\(\) is missing value for argument 'x'. Declaration: manners::sine2"),
        (lambda op, t: op(t.ones(1), t.ones(1)), r"expected at most 1 argument\(s\) but received 2 argument\(s\)"),
        (lambda op, t: op(np.ones(1)), "Expected a value of type 'Tensor' for argument 'x' but instead found type"),
    ],
)
def test_arguments_that_do_not_fit(t, call, words):
    with pytest.raises(RuntimeError, match=words):
        call(sine(t, "sine2"), t)


@pytest.mark.parametrize("value", [1, 2.5, True, "a", None, np.int64(2), np.float64(2), np.bool_(True), 1j])
@pytest.mark.parametrize("kind", [int, float, str])
def test_numbers_are_of_the_declared_type(t, kind, value):
    """An operator of whole numbers computed with 2.5."""

    def scaled(x, k):
        given.append(k)
        return x.clone()

    given = []
    scaled.__annotations__ = {"x": t.Tensor, "k": kind, "return": t.Tensor}
    op = t.library.custom_op(f"manners::of_{kind.__name__}", scaled, mutates_args=())
    exact = {int: (int, np.integer, np.bool_), float: (int, float, np.number, np.bool_), str: str}[kind]
    if isinstance(value, exact):
        op(t.ones(1), value)
        assert given == [value]
    else:
        with pytest.raises(RuntimeError, match=f"Expected a value of type '{kind.__name__}' for argument 'k'"):
            op(t.ones(1), value)


TAKEN = [
    (bool, 2, True), (bool, None, False), (bool, "a", "bool"), (bool, [True], "bool"),
    (list[int], (1, True), [1, 1]), (list[int], [1.5], r"List\[int\]"), (list[int], 1, r"List\[int\]"),
    (list[float], [1, 2.5], [1.0, 2.5]), (list[float], ["a"], r"List\[float\]"), (Sequence[int], (3,), [3]),
    (int | None, None, None), (int | None, np.int64(3), 3), (int | None, 2.5, r"Optional\[int\]"),
    (str | None, 3, r"Optional\[str\]"), (list[bool], [1, 0], [True, False]), (list[int] | None, (1,), [1]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(TAKEN)))
def test_lists_and_truth_values_are_of_the_declared_type(t, case):
    """What fits comes as what was declared: a flag was 2, a list of numbers held texts."""
    kind, value, expected = TAKEN[case]
    given = []

    def told(x, k):
        given.append(k)
        return x.clone()

    told.__annotations__ = {"x": t.Tensor, "k": kind, "return": t.Tensor}
    op = t.library.custom_op(f"manners::taken{case}", told, mutates_args=())
    if isinstance(expected, str):
        with pytest.raises(RuntimeError, match=f"Expected a value of type '{expected}' for argument 'k'"):
            op(t.ones(1), value)
    else:
        op(t.ones(1), value)
        assert given == [expected]
        assert type(given[0]) is type(expected)


def test_operators_may_share_a_room_of_the_library(t):
    """The namespace is called as the library's own rooms of ops are."""
    op = t.library.custom_op("nn::doubled_here", typed(t, lambda x: x * 2), mutates_args=())
    assert t.ops.nn.doubled_here(t.ones(2)).tolist() == [2.0, 2.0]
    assert op(t.ones(1)).tolist() == [2.0]


def test_operators_take_no_name_of_the_library():
    double = typed(symgrad, lambda x: x * 2)
    with pytest.raises(ValueError, match="'nn::norms' is a name of the library's own"):
        symgrad.library.custom_op("nn::norms", double, mutates_args=())


def test_declarations_that_are_refused(t):
    def make(fn, **options):
        t.library.custom_op(options.pop("name", "manners::refused"), fn, **{"mutates_args": (), **options})

    def few(x, y): ...

    def many(*xs: float) -> float: ...

    def right(k: float) -> float: ...

    def no_result(k: float): ...

    for fn, options, words in (
        (few, {}, "Parameter x must have a type annotation"),
        (many, {}, "We do not support positional-only args, varargs, or varkwargs"),
        (no_result, {}, "No return type annotation was provided"),
        (right, {"mutates_args": ("q",)}, "{'q'} in mutates_args were not found"),
        (right, {"mutates_args": "some"}, "mutates_args must either be a sequence"),
        (right, {"name": "alone"}, "alone|not enough values to unpack"),
    ):
        fn.__annotations__ = {name: {"float": float}.get(kind, kind) for name, kind in fn.__annotations__.items()}
        with pytest.raises(ValueError, match=words):
            make(fn, **options)


def test_operators_in_forward_mode() -> None:
    """The registered backward is transposed, also of lists; torch has a tangent of 0 there."""
    op = operator(symgrad, "weighed", lambda xs, k: sum(x * k for x in xs))
    op.register_autograd(lambda ctx, g: ([g * 3] * 2, None))
    x, tangent = symgrad.tensor([1.0, 2.0]), symgrad.tensor([1.0, 0.5])
    assert symgrad.func.jvp(lambda x: op([x, x], 3.0), (x,), (tangent,))[1].tolist() == [6.0, 3.0]
    assert symgrad.func.vmap(lambda row: op([row, row * 2], 2.0))(symgrad.ones(2, 3)).tolist() == [[6.0] * 3] * 2


def test_operators_have_formulas() -> None:
    """Where an operator is made of operations, its formula and that of its backward are those."""
    op = operator(symgrad, "swish", lambda x: x * symgrad.sigmoid(x))
    op.register_autograd(
        lambda ctx, g: g * symgrad.sigmoid(ctx.saved_tensors[0]),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    x = symgrad.tensor([0.5, -1.0], requires_grad=True, name="x")
    y = op(x).sum()
    y.backward()
    point = x.detach().numpy()
    assert symgrad.formula(y).evaluate(x=point) == pytest.approx(y.item())
    assert np.allclose(symgrad.formula(x.grad).evaluate(x=point), x.grad.numpy())


def test_operators_declared_in_pieces(t):
    """Library, define and impl: a schema first, and what computes it later."""
    lib = t.library.Library("pieces", "DEF")
    assert lib.define("scaled(Tensor x, float k=2.0) -> Tensor") == "scaled"
    lib.impl("scaled", lambda x, k=2.0: x * k, "CompositeImplicitAutograd")
    x = t.ones(2, requires_grad=True)
    (t.ops.pieces.scaled(x) + t.ops.pieces.scaled(x, k=3.0)).sum().backward()
    assert x.grad.tolist() == [5, 5]
    t.library.define("pieces::grown", "(Tensor x) -> Tensor")

    @t.library.impl("pieces::grown", "cpu")
    def grown(x):
        return x.exp()

    t.library.register_autograd(
        "pieces::grown",
        lambda ctx, g: 10 * g * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output),
    )
    y = t.zeros(2, requires_grad=True)
    t.ops.pieces.grown(y).sum().backward()
    assert y.grad.tolist() == [10, 10]


def test_schemas_tell_what_arguments_are(t):
    lib = t.library.Library("schemas", "FRAGMENT")
    lib.define("both(Tensor x, *, int k) -> (Tensor, Tensor)")
    lib.define("added(Tensor[] xs, Tensor? y=None) -> Tensor")
    lib.define("raised_(Tensor(a!) x) -> ()")
    lib.define("missing(Tensor x) -> Tensor")
    lib.impl("both", lambda x, *, k: (x * k, x + k), "CPU")
    lib.impl("added", lambda xs, y=None: xs[0] + xs[1] + (0 if y is None else y), "CompositeExplicitAutograd")

    def raised(x):
        x.add_(1)

    lib.impl("raised_", raised, "CPU")
    x = t.ones(2)
    assert [o.tolist() for o in t.ops.schemas.both(x, k=3)] == [[3, 3], [4, 4]]
    assert t.ops.schemas.added([x, x]).tolist() == [2, 2]
    assert t.ops.schemas.added([x, x], x).tolist() == [3, 3]
    t.ops.schemas.raised_(x)
    assert x.tolist() == [2, 2]
    with pytest.raises(RuntimeError):
        t.ops.schemas.both(x)
    with pytest.raises(NotImplementedError, match="Could not run"):
        t.ops.schemas.missing(x)
    with pytest.raises(ValueError, match=r"schema"):
        t.library.define("schemas::odd", "Tensor x -> Tensor")
    with pytest.raises((RuntimeError, ValueError)):
        t.library.define("schemas::odd", "(Foo x) -> Tensor")
    with pytest.raises(ValueError, match="Unsupported kind"):
        t.library.Library("schemas", "FOO")


def test_gradients_of_operators_that_change_arguments(t):
    """Declared ones are differentiated through; of results of others nothing is known, and so nothing said."""
    t.library.define("changing::added_", "(Tensor(a!) x, Tensor y) -> Tensor")

    @t.library.impl("changing::added_", "cpu")
    def added(x, y):
        x.add_(y)
        return y * 2

    w = t.ones(2, requires_grad=True)
    x = w * 2
    (t.ops.changing.added_(x, w).sum() + x.sum()).backward()
    assert w.grad.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        t.ops.changing.added_(w, w)
    op = t.library.custom_op("changing::told", typed(t, lambda x, y: (x.add_(y), y * 2)[1]), mutates_args=("x",))  # noqa: E501
    found = op(t.zeros(2), w)
    assert found.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        found.sum().backward()


def test_a_library_stands_where_a_name_does(t):
    lib = t.library.Library("older", "DEF")
    lib.define("more(Tensor x) -> Tensor")

    @t.library.impl(lib, "more", "CPU")
    def more(x):
        return x + 1

    @t.library.define(lib, "twice(Tensor x) -> Tensor")
    def twice(x):
        return 2 * more(x)

    x = t.ones(2, requires_grad=True)
    assert t.ops.older.more(t.ones(2)).tolist() == [2, 2]
    t.ops.older.twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_an_operator_may_bring_its_own_history(t):
    class Seven(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 7 * g

    lib = t.library.Library("history", "DEF")
    lib.define("seven(Tensor x) -> Tensor")
    lib.impl("seven", Seven.apply, "Autograd")
    lib.impl("seven", lambda x: x * x, "CPU")
    x = t.ones(2, requires_grad=True)
    t.ops.history.seven(x).sum().backward()
    assert x.grad.tolist() == [7, 7]
