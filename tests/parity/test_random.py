"""Random numbers against torch: the same seed gives the same numbers, whatever draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

X = np.random.default_rng(0).uniform(-1, 1, (3, 4, 6, 6))


def _portable() -> bool:
    """Whether this torch draws Bernoulli numbers with its own code, not with MKL's (on processors of Intel)."""
    torch.manual_seed(1)
    drawn = torch.empty(64, dtype=torch.float64).bernoulli_(0.5)
    torch.manual_seed(1)
    return torch.equal(drawn, (torch.rand(64, dtype=torch.float64) < 0.5).double())


CALLS: dict[str, Callable[[Any], Any]] = {
    "rand": lambda t: t.rand(3, 5, dtype=t.float64),
    "rand float": lambda t: t.rand(7),
    "rand half": lambda t: t.rand(900, dtype=t.bfloat16).double(),
    "uniform half": lambda t: t.empty(900, dtype=t.float16).uniform_(-100, 100).double(),
    "uniform half, ends that are rounded": lambda t: t.empty(900, dtype=t.bfloat16).uniform_(0.1, 0.7).double(),
    "uniform complex": lambda t: t.empty(5, dtype=t.complex128).uniform_(2, 3),
    "uniform far out": lambda t: t.empty(9, dtype=t.float64).uniform_(-1e308, 7e307),
    "normal far out": lambda t: t.empty(3, dtype=t.float64).normal_(1e308, 1e305),
    "normal as wide as can be": lambda t: t.empty(3, dtype=t.float64).normal_(0, np.inf),
    "normal at infinity": lambda t: t.empty(20, dtype=t.float64).normal_(-np.inf, 1e305),
    "normal complex in place": lambda t: t.empty(5, dtype=t.complex128).normal_(2, 3),
    "rand complex": lambda t: t.rand(3, dtype=t.complex128),
    "native_dropout": lambda t: t.native_dropout(t.ones(5, 7), 0.3, True)[0],
    "its mask": lambda t: t.native_dropout(t.ones(5, 7).bfloat16(), 0.3, None)[1].double(),
    "numbers after one of all": lambda t: [t.native_dropout(t.ones(3), 1.0, True), t.rand(3)][1],
    "gamma": lambda t: t._standard_gamma(t.tensor([0.0, 0.1, 0.9, 1.0, 3.5, 200.0]).double().expand(4, 6)),
    "gamma float": lambda t: t._standard_gamma(t.tensor([0.1, 0.9, 1.0, 3.5, 200.0]).expand(4, 5)),
    "gamma outside of its domain": lambda t: t._standard_gamma(
        t.tensor([-5.0, -0.7, -0.001, np.nan, np.inf, 1e-45]).expand(4, 6)
    ),
    "randn of few": lambda t: t.randn(7, dtype=t.float64),
    "randn of sixteen": lambda t: t.randn(16, dtype=t.float64),
    "randn of many": lambda t: t.randn(37, dtype=t.float64),
    "randn float": lambda t: t.randn(37),
    "randn complex": lambda t: t.randn(9, dtype=t.complex128),
    "one after the other": lambda t: (t.randn(3, dtype=t.float64), t.randn(2, dtype=t.float64), t.rand(2))[1],
    "normal": lambda t: t.normal(t.tensor(X[0, 0]), t.tensor(np.abs(X[0, 1]))),
    "normal of numbers": lambda t: t.normal(1.5, 0.5, (2, 3), dtype=t.float64),
    "bernoulli": lambda t: t.bernoulli(t.tensor(np.abs(X))),
    "bernoulli in place, of chances": lambda t: t.tensor(X).bernoulli_(t.tensor(np.abs(X))),
    "rrelu": lambda t: t.nn.functional.rrelu(t.tensor(X), training=True),
    "fractional_max_pool2d": lambda t: t.nn.functional.fractional_max_pool2d(t.tensor(X), 2, (3, 4)),
    "multinomial of one": lambda t: t.multinomial(t.tensor(np.abs(X[0, 0])), 1),
    "multinomial of one, put back": lambda t: t.multinomial(t.tensor(np.abs(X[0, 0])).float(), 1, True),
    "multinomial of some": lambda t: t.multinomial(t.tensor(np.abs(X[0, 0])).float(), 4),
    "multinomial, put back": lambda t: t.multinomial(t.tensor(np.abs(X[0, 0])).float(), 40, replacement=True),
    "multinomial of halves": lambda t: t.multinomial(t.tensor(np.abs(X[0, 0, 0])).half(), 9, replacement=True),
    "after multinomials": lambda t: (t.multinomial(t.ones(5), 1, True), t.multinomial(t.ones(5), 3), t.rand(3))[2],
    "log_normal_": lambda t: t.empty(20).log_normal_(0.5, 0.25),
    "log_normal_ of an odd number": lambda t: (t.empty(3).log_normal_(), t.randn(2, dtype=t.float64))[1],
    "binomial": lambda t: t.binomial(t.arange(12.0).repeat(4), t.linspace(0, 1, 48)),
    "binomial of many": lambda t: t.binomial(t.full((40,), 200.0).double(), t.linspace(0.02, 0.98, 40).double()),
    "svd_lowrank": lambda t: t.svd_lowrank(t.tensor(X[0, 0]), 3)[1],
}
MASKS: dict[str, Callable[[Any], Any]] = {
    "bernoulli in place": lambda t: t.tensor(X * 5).bernoulli_(),
    "bernoulli in place, of a number": lambda t: t.tensor(X).bernoulli_(0.3),
    "dropout": lambda t: t.nn.functional.dropout(t.tensor(X), 0.3),
    "dropout2d": lambda t: t.nn.functional.dropout2d(t.tensor(X), 0.3),
    "dropout2d of signals": lambda t: t.nn.functional.dropout2d(t.tensor(X[0]), 0.3),
    "dropout1d without a batch": lambda t: t.nn.functional.dropout1d(t.tensor(X[0, 0]), 0.3),
    "dropout3d without a batch": lambda t: t.nn.functional.dropout3d(t.tensor(X), 0.3),
    "alpha_dropout": lambda t: t.nn.functional.alpha_dropout(t.tensor(X), 0.3, training=True),
    "feature_alpha_dropout": lambda t: t.nn.functional.feature_alpha_dropout(t.tensor(X), 0.3, training=True),
    "attention": lambda t: t.nn.functional.scaled_dot_product_attention(*[t.tensor(x) for x in X], dropout_p=0.4),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:dropout2d:UserWarning")
@pytest.mark.parametrize("name", [*CALLS, *MASKS])
def test_same_numbers(name: str) -> None:
    """A seed, a call, torch's numbers."""
    if name in MASKS and not _portable():
        pytest.skip("this torch draws masks with MKL")
    call = {**CALLS, **MASKS}[name]
    torch.manual_seed(11)
    sg.manual_seed(11)
    theirs, ours = call(torch), call(sg)
    assert ours.numpy().dtype == theirs.numpy().dtype
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-5 if ours.dtype == sg.float32 else 1e-12, 1e-6)


def test_generators() -> None:
    """A generator of one's own, ours or NumPy's, leaves the common one alone; a state can be taken up again."""
    mine = sg.Generator().manual_seed(3)
    state = mine.get_state()
    x = sg.tensor(X)
    first = sg.nn.functional.dropout(x, 0.3, generator=mine)
    mine.set_state(state)
    assert np.array_equal(first.numpy(), sg.nn.functional.dropout(x, 0.3, generator=mine).numpy())
    assert mine.initial_seed() == 3
    before = sg.default_generator.get_state()[1]
    sg.bernoulli(sg.tensor(np.abs(X)), generator=np.random.default_rng(0))
    assert str(sg.default_generator.get_state()[1]) == str(before)


def test_torchs_generators() -> None:
    """``generator=`` takes torch's own generators, too: noise that a program for torch has seeded."""
    chances, x = np.abs(X), sg.tensor(X)
    theirs = torch.bernoulli(torch.tensor(chances), generator=torch.Generator().manual_seed(4))
    ours = sg.bernoulli(sg.tensor(chances), generator=torch.Generator().manual_seed(4))
    assert np.array_equal(ours.numpy(), theirs.numpy())
    samples = torch.normal(torch.tensor(X), 1.0, generator=torch.Generator().manual_seed(4))
    np.testing.assert_allclose(sg.normal(x, generator=torch.Generator().manual_seed(4)).numpy(), samples.numpy())
    torch.manual_seed(7)
    theirs = torch.nn.functional.dropout(torch.tensor(X), 0.3)
    torch.manual_seed(7)
    ours = sg.nn.functional.dropout(x, 0.3, generator=torch.default_generator)
    assert np.array_equal(ours.numpy(), theirs.numpy())


def test_binomial_refuses() -> None:
    for t in (sg, torch):
        with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
            t.binomial(t.ones(2), t.ones(2, dtype=t.float64))
        with pytest.raises(ValueError, match="floating-point dtypes for count, got: Long"):
            t.binomial(t.tensor([1]), t.ones(1))
        prob = t.tensor([0.5], requires_grad=True)
        with pytest.raises(RuntimeError, match="derivative for aten::binomial is not implemented"):
            t.binomial(t.tensor([3.0]), prob).backward()
        with t.no_grad():
            assert not t.binomial(t.tensor([3.0]), prob).requires_grad


def test_bernoulli_in_place_asks_for_a_probability() -> None:
    for t in (sg, torch):
        with pytest.raises(RuntimeError, match="bernoulli_ expects p to be in .0, 1., but got p=1.5"):
            t.ones(2).bernoulli_(1.5)
        with pytest.raises(RuntimeError, match="Expected p_in >= 0 && p_in <= 1 to be true, but got false"):
            t.ones(2).bernoulli_(t.tensor([0.5, 2.0]))
        x = t.ones(2, requires_grad=True) * 3
        assert x.bernoulli_().grad_fn.name() == "BernoulliBackward2"
        assert x.bernoulli_(t.tensor([0.5, 0.0])).grad_fn.name() == "BernoulliBackward1"


SAMPLES = {
    "normal, tensor and number": lambda t, m, s: t.normal(m, 1.0),
    "normal, number and tensor": lambda t, m, s: t.normal(0.0, s),
    "normal, tensors": lambda t, m, s: t.normal(m.exp(), s),
    "normal, one constant": lambda t, m, s: t.normal(m, s.detach()),
    "bernoulli": lambda t, m, s: t.bernoulli(m),
    "poisson": lambda t, m, s: t.poisson(m),
    "drawn in place": lambda t, m, s: (m * 1).uniform_(),
    "normal in place": lambda t, m, s: (m * 1).normal_(),
    "bernoulli in place": lambda t, m, s: (m * 1).bernoulli_(t.tensor([0.5, 0.25])),
    "bernoulli in place, of parameters": lambda t, m, s: (m * 1).bernoulli_(s),
    "bernoulli in place of a constant": lambda t, m, s: t.zeros(3, 2)[1].bernoulli_(s),
}


@pytest.mark.parametrize("draw", SAMPLES.values(), ids=list(SAMPLES))
def test_samples_are_nodes_of_their_parameters(draw) -> None:
    """Named as torch's, with what they were drawn with as the only functions before."""
    found = []
    for t in (sg, torch):
        m, s = (t.tensor([0.3, 0.5], requires_grad=True) for _ in range(2))
        node = draw(t, m, s).grad_fn
        found.append((node.name(), [f and f.name() for f, _ in node.next_functions]))
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("count", [7, 16, 17, 40])
def test_half_precision_draws_in_float32(dtype: str, count: int) -> None:
    """Rounded once; and of the numbers that blocks of sixteen leave over none is drawn."""
    found = []
    for t in (sg, torch):
        t.manual_seed(4)
        kind = getattr(t, dtype)
        mean, std = t.full((count,), 1.5, dtype=kind), t.full((count,), 0.3, dtype=kind)
        drawn = [t.randn(count, dtype=kind), t.rand(count, dtype=kind), t.normal(mean, std), t.normal(mean, 2.0)]
        found.append([x.float().tolist() for x in (*drawn, t.rand(1))])
    assert found[0] == found[1]


LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "turned": lambda t, kind: t.linspace(0.05, 0.95, 420).to(kind).reshape(20, 21).t(),
    "turned, few": lambda t, kind: t.linspace(0.05, 0.95, 12).to(kind).reshape(3, 4).t(),
    "every second": lambda t, kind: t.linspace(0.05, 0.95, 840).to(kind).reshape(20, 21, 2)[..., 0],
    "three axes": lambda t, kind: t.linspace(0.05, 0.95, 840).to(kind).reshape(4, 7, 30).permute(2, 0, 1),
    "three axes with gaps": lambda t, kind: t.linspace(0.05, 0.95, 840).to(kind).reshape(4, 7, 30)[..., ::3].mT,
    "one row": lambda t, kind: t.linspace(0.05, 0.95, 20).to(kind).reshape(1, 20).t(),
}
IN_MEMORY: dict[str, Callable[[Any, Any], Any]] = {
    "uniform_": lambda t, x: x.uniform_(-1, 2),
    "normal_": lambda t, x: x.normal_(1, 3),
    "bernoulli_": lambda t, x: x.bernoulli_(t.full_like(x, 0.3)),
    "exponential_": lambda t, x: x.exponential_(2.0),
    "log_normal_": lambda t, x: x.log_normal_(0.1, 0.2),
    "cauchy_": lambda t, x: x.cauchy_(),
    "geometric_": lambda t, x: x.geometric_(0.3),
    "random_": lambda t, x: x.random_(-7, 9),
    "rand_like": lambda t, x: t.rand_like(x),
    "randn_like": lambda t, x: t.randn_like(x),
    "randint_like": lambda t, x: t.randint_like(x, 9),
    "bernoulli": lambda t, x: t.bernoulli(x),
    "normal": lambda t, x: t.normal(x, 2.0),
    "poisson": lambda t, x: t.poisson(x * 20),
    "trunc_normal_": lambda t, x: t.nn.init.trunc_normal_(x),
    "multinomial": lambda t, x: t.multinomial(x, 3, True) if x.ndim == 2 else x,
    "multinomial of one": lambda t, x: t.multinomial(x, 1) if x.ndim == 2 else x,
}
MASKS_IN_MEMORY: dict[str, Callable[[Any, Any], Any]] = {
    "bernoulli_ of a number": lambda t, x: x.bernoulli_(0.3),
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.4),
    "dropout1d": lambda t, x: t.nn.functional.dropout1d(x, 0.4),
    "alpha_dropout": lambda t, x: t.nn.functional.alpha_dropout(x, 0.4, True),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", [*IN_MEMORY, *MASKS_IN_MEMORY])
def test_numbers_in_the_order_of_the_memory(name: str, dtype: str) -> None:
    """What does not lie row by row is filled as it lies; the numbers that come after are the same, too."""
    if name in MASKS_IN_MEMORY and not _portable():
        pytest.skip("this torch draws masks with MKL")
    call = {**IN_MEMORY, **MASKS_IN_MEMORY}[name]
    close = {"float16": 2e-3, "bfloat16": 2e-2}.get(dtype, 2e-6)
    for layout in LAYOUTS.values():
        found = []
        for t in (torch, sg):
            t.manual_seed(3)
            drawn = call(t, layout(t, getattr(t, dtype)))
            found.append((drawn.double().numpy(), drawn.shape[-1] == 1 or drawn.stride(), t.rand(1).item()))
        np.testing.assert_allclose(found[1][0], found[0][0], close, close)
        assert found[1][1:] == found[0][1:]


def test_complex_numbers_in_the_order_of_the_memory() -> None:
    for layout in LAYOUTS.values():
        for call in ("normal_", "uniform_", "rand_like", "randn_like"):
            found = []
            for t in (torch, sg):
                t.manual_seed(3)
                found.append((IN_MEMORY[call](t, layout(t, t.complex64)).numpy(), t.rand(1).item()))
            np.testing.assert_allclose(found[1][0], found[0][0], 1e-5, 1e-6)
            assert found[0][1] == found[1][1]


def test_nothing_is_drawn_for_no_entries() -> None:
    for t in (torch, sg):
        t.manual_seed(3)
        t.nn.functional.dropout1d(t.zeros(3, 0), 0.4)
        assert t.rand(1).item() == pytest.approx(0.0042, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        *[
            (name, "int64")
            for name in ("uniform_", "normal_", "exponential_", "log_normal_", "rand_like", "randn_like")
        ],
        *[(name, "int64") for name in ("bernoulli", "normal", "dropout", "alpha_dropout")],
        *[(name, "complex64") for name in ("exponential_", "log_normal_", "geometric_", "bernoulli", "multinomial")],
        ("bernoulli_ of a number", "complex64"),
    ],
)
def test_dtypes_without_such_numbers(call: str, dtype: str) -> None:
    """torch's refusals, in its classes and words."""
    said = []
    for t in (torch, sg):
        with pytest.raises(RuntimeError) as caught:
            {**IN_MEMORY, **MASKS_IN_MEMORY}[call](t, t.ones(2, 3).to(getattr(t, dtype)))
        said.append((isinstance(caught.value, NotImplementedError), str(caught.value)))
    assert said[0][0] == said[1][0]
    assert said[1][1].startswith(said[0][1])


@pytest.mark.filterwarnings("ignore:dropout3d")
@pytest.mark.parametrize("shape", [(4,), (4, 3), (3, 2, 2), (3, 2, 2, 2), (2, 3, 2, 2, 2)])
def test_dropout3d_takes_all_but_five_axes_for_one_example(shape):
    rows = []
    for module in (sg, torch):
        module.manual_seed(3)
        rows.append(module.nn.functional.dropout3d(module.ones(shape)).tolist())
    assert rows[0] == rows[1]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_uniform_numbers_to_the_last_digit(dtype: str) -> None:
    """a + (b - a) u is rounded once, as processors do: layers begin with torch's weights."""

    def drawn(t: Any) -> Any:
        t.manual_seed(3)
        made = [t.empty(size, dtype=getattr(t, dtype)).uniform_(-a, a) for size, a in ((5, 0.3), (200, 0.57735))]
        return [x.numpy() for x in (*made, t.empty((), dtype=getattr(t, dtype)).uniform_(0.1, 0.7))]

    for ours, theirs in zip(drawn(sg), drawn(torch), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("size", [(), 5, 200])
def test_normal_numbers_to_the_last_digit(size: Any) -> None:
    """mean + std x is rounded once, as processors do (the logarithms of float32 are not torch's to the last digit)."""

    def drawn(t: Any) -> Any:
        t.manual_seed(3)
        shape = (size,) if size else ()
        made = t.empty(shape, dtype=t.float64).normal_(0.3, 1.7)
        return [made.numpy(), t.normal(0.3, 1.7, shape, dtype=t.float64).numpy()]

    for ours, theirs in zip(drawn(sg), drawn(torch), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_derivative_by_the_chances_of_what_is_drawn_in_place() -> None:
    """It is 0 and not none: the chances require grad, and so does what was drawn."""
    for t in (sg, torch):
        t.manual_seed(0)
        m, s = (t.tensor([0.3, 0.5], dtype=d, requires_grad=True) for d in (t.float32, t.float64))
        y = m.clone().bernoulli_(s)
        (y * 2).sum().backward()
        assert (m.grad.tolist(), s.grad.tolist(), s.grad.dtype, y.dtype) == ([0, 0], [0, 0], t.float64, t.float32)


@pytest.mark.parametrize("kind", "float16 bfloat16 float32 float64 complex64 complex128 int64 int8 uint8 bool".split())
@pytest.mark.parametrize(
    "options",
    [
        {}, {"noncontiguous": True}, {"low": 0, "high": 1.5}, {"low": -1, "high": 2, "exclude_zero": True},
        {"requires_grad": True}, {"low": 5, "high": 2}, {"low": float("nan")}, {"low": 1e6, "high": 1e7},
        {"low": -float("inf"), "high": float("inf")},
    ],
)  # fmt: skip
def test_tensors_that_are_made_for_tests(kind: str, options: dict[str, Any]) -> None:
    """make_tensor draws what torch's draws, and refuses what it refuses."""
    found: list[Any] = []
    for t in (sg, torch):
        t.manual_seed(5)
        try:
            x = t.testing.make_tensor((4, 3), dtype=getattr(t, kind), device="cpu", **options)
        except (ValueError, RuntimeError) as error:
            found.append(type(error).__name__ if t is torch else [c.__name__ for c in type(error).__mro__])
            continue
        found.append((x.detach().to(t.complex128).tolist(), x.requires_grad, x.stride(), str(x.dtype).split(".")[-1]))
    assert found[0] == found[1] or found[1] in found[0]


REFUSED: dict[str, Callable[[Any], Any]] = {
    "normal_": lambda x: x.normal_(),
    "uniform_": lambda x: x.uniform_(),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "bernoulli_ of chances": lambda x: x.bernoulli_(x.detach()),
    "exponential_": lambda x: x.exponential_(),
    "log_normal_": lambda x: x.log_normal_(),
    "cauchy_": lambda x: x.cauchy_(),
    "geometric_": lambda x: x.geometric_(0.5),
    "random_": lambda x: x.random_(3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_tensor_that_refuses_numbers_takes_none_of_the_seed(name: str) -> None:
    leaf = sg.zeros(6, requires_grad=True)
    for x in (leaf, leaf[:2], sg.zeros(1).expand(3)):
        sg.manual_seed(0)
        with pytest.raises(RuntimeError, match=r"leaf Variable|single memory location"):
            REFUSED[name](x)
        drawn = sg.rand(2).tolist()
        sg.manual_seed(0)
        assert drawn == sg.rand(2).tolist()
