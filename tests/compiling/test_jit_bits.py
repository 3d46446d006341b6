"""A jitted function never changes a bit: every op of the table, and random programs, eager and hot."""

from __future__ import annotations

import functools
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.specialise import same_bits
from symgrad.errors import CompileError
from symgrad.op import TABLE
from symgrad.proving.laws import is_data
from symgrad.proving.samples import cases, make_case, samples
from symgrad.tape import containers
from tests.turns import in_turn

REAL = ("float64", "float32", "float16", "bfloat16")
COMPLEX = ("complex128", "complex64")
SMALL = {"float16": "float32", "bfloat16": "float32", "complex64": "complex128"}
NAMES = [
    pytest.param(dtype, name, marks=() if dtype in ("float64", "float32") else pytest.mark.slow)
    for dtype in (*REAL, *COMPLEX)
    for name in sorted({name for name, _ in cases(complex_too=dtype in COMPLEX)})
]


def leaves(result: Any) -> list[Any]:
    return [r._value if isinstance(r, sg.Tensor) else r for r in containers.flatten(result)[0]]


def check(f: Any, rows: list[list[Any]], compiled: bool = True, what: Any = "", **options: Any) -> Any:
    """The function on every row of arguments, eagerly and as jit runs it; the first row makes the program."""
    hot = sg.jit(f, after=0, **options)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, row in enumerate([rows[0], *rows]):
            try:
                want = f(*[sg.as_tensor(a) if isinstance(a, (np.ndarray, np.generic)) else a for a in row])
            except Exception as error:  # noqa: BLE001
                with pytest.raises(type(error).__mro__[1]) as raised:
                    hot(*row)
                same = str(raised.value) == str(error)
                assert same, what
                continue
            got = hot(*row)
            want = sg.as_tensor(want) if isinstance(want, (np.ndarray, np.generic)) else want
            assert type(got) is type(want), (what, k)
            for a, b in zip(leaves(want), leaves(got), strict=True):
                assert same_bits(a, b), (what, k, a, b, hot.stats(), hot.source if hot.compiled.variants else "")
    assert not compiled or hot.stats()["compiled"], (what, hot.stats())
    return hot


def variants(array: Any) -> list[Any]:
    """The array, and others of its shape: turned around, and a little larger."""
    moved = array[::-1].copy() if array.ndim else array
    if array.dtype.kind in "fc" and array.ndim < 2:
        moved = (moved * array.dtype.type(0.8125)).astype(array.dtype)
    return [array, moved]


@pytest.mark.parametrize(("dtype", "name"), NAMES)
def test_ops(dtype: str, name: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    op = TABLE[name]
    for k in range(len(samples(op))) if dtype == "float64" else in_turn(name):
        args, params = make_case(name, k, dtype=np.dtype(SMALL.get(dtype, dtype)).type)
        small = np.dtype(dtype)
        wide = "fc" if small.kind == "c" else "f"
        args = [a.astype(small) if is_data(a) and a.dtype.kind in wide and dtype in SMALL else a for a in args]
        arrays = [a for a in args if is_data(a)]

        def f(*xs: Any, args: Any = args, params: Any = params) -> Any:
            rest = iter(xs)
            return op(*(next(rest) if is_data(a) else a for a in args), **params)

        rows = [list(row) for row in zip(*map(variants, arrays), strict=True)] or [[]]
        check(f, rows, False, (dtype, name, k))
        if op.kind == "elementwise" and all(a.ndim for a in arrays):
            points = [[a.ravel()[j] for a in arrays] for j in range(min(a.size for a in arrays))][:4]
            check(f, points, False, (dtype, name, k, "0-d"))


def test_tensors_from_outside() -> None:
    """What is computed of them alone is computed at every call, and one that is changed is changed at every call."""
    w, state = sg.tensor([1.0, 2.0]), sg.zeros(2)

    @sg.jit(after=0)
    def scaled(x: Any) -> Any:
        return x * (w * 2).sum()

    @sg.jit(after=0)
    def counted(x: Any) -> Any:
        state.add_(1)
        return x + state

    for k in range(3):
        assert scaled(np.ones(1)).tolist() == [6 + 4 * k]
        assert counted(np.ones(1, np.float32)).tolist() == [k + 2, k + 2]
        w.add_(1)
    assert state.tolist() == [3, 3]
    assert "changes a tensor in place" in counted.stats()["refused"][0]


def test_random_numbers_are_those_of_the_function() -> None:
    def f(x: Any) -> Any:
        return x + sg.rand(2, dtype=sg.float64)

    rows = []
    for run in (f, sg.jit(f, after=1)):
        sg.manual_seed(0)
        rows.append([run(sg.zeros(2)).tolist() for _ in range(4)])
    assert rows[0] == rows[1]


def test_backward_inside_adds_once() -> None:
    p = sg.tensor([2.0], requires_grad=True)

    @sg.jit(after=0)
    def f(x: Any) -> Any:
        (p * p * x).sum().backward()
        return x + 1

    f(np.ones(1, np.float32))
    assert p.grad.tolist() == [4.0]


def test_variables_from_outside_are_differentiated() -> None:
    p = sg.tensor([1.0, 2.0], requires_grad=True)
    q = p * 2
    for f in (sg.jit(lambda x: (x * p).sum(), after=0), sg.jit(lambda x: (x * q).sum(), after=0)):
        for _ in range(3):
            assert f(np.ones(2, np.float32)).requires_grad
    with sg.no_grad():
        assert not f(np.ones(2, np.float32)).requires_grad


def test_numbers_are_weak_and_stay_numbers() -> None:
    @sg.jit(after=0)
    def f(x: Any, scale: float) -> Any:
        return x * scale, 3, x.shape[0]

    for scale in (2.0, 2.0, -0.0, 0.0):
        out, three, size = f(np.ones(2, np.float32), scale)
        assert out.dtype == np.float32
        assert np.array_equal(np.signbit(out.numpy()), np.signbit(np.float32([scale, scale])))
        assert type(three) is int
        assert size == 2


def test_errors_are_those_of_the_function() -> None:
    @sg.jit(after=0)
    def f(x: Any) -> Any:
        return sg.linalg.inv(x)

    assert f(np.eye(2)).shape == (2, 2)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f(np.zeros((2, 2)))


def test_a_program_of_kernels_is_not_saved(tmp_path: Any) -> None:
    f = sg.jit(lambda x: sg.exp(x), after=0)
    f(np.ones(2))
    with pytest.raises(CompileError, match="calls the library's own kernels"):
        f.compiled.save(tmp_path / "f.py")
    with pytest.raises(CompileError, match="is not pickled"):
        pickle.dumps(f.compiled)


def test_numbers_alone_have_one_value() -> None:
    """By math or by NumPy was a matter of how a number was held: as a scalar, as an array, beside an observer."""
    for x in np.random.default_rng(0).uniform(0.1, 3, 200):
        for name in ("exp", "log", "sin", "cos", "tan", "tanh", "sqrt"):
            f = getattr(sg, name)
            held = [sg.tensor(np.float64(x)), sg.tensor(np.array([x]))[0], sg.tensor(x, dtype=sg.float64, name="x")]
            values = {f(t).item() for t in held} | {float(f(np.float64(x))), float(f(np.array(x)))}
            assert len(values) == 1, (name, x)


def test_an_array_of_no_dtype_beside_a_number_keeps_the_default_one() -> None:
    f = sg.jit(lambda s: s * sg.eye(2), after=1)
    found = [f(np.float64(0.1)) for _ in range(3)]
    assert f.stats()["compiled"] == 2
    assert [t.dtype for t in found] == [np.float32] * 3


def test_gradients_inside_of_arrays_of_no_dtype_stay_double() -> None:
    f = sg.jit(sg.func.grad(lambda s: (s * sg.eye(2) * 0.1).sum()), after=1)
    assert {np.asarray(f(np.float64(0.1))).tobytes() for _ in range(3)} == {np.float64(0.2).tobytes()}


def test_a_number_keeps_the_sign_of_its_zero() -> None:
    f = sg.jit(lambda z: (z * complex(1, 0.0), z * complex(1, -0.0)), after=0)
    for _ in range(2):
        a, b = f(np.array([1 + 0j]))
        assert np.signbit(a.imag.numpy()) == np.signbit((np.array([1 + 0j]) * complex(1, 0.0)).imag)
        assert np.signbit(b.imag.numpy()) == np.signbit((np.array([1 + 0j]) * complex(1, -0.0)).imag)


# ---------------------------------------------------------------------------------------------- random programs

UNARY = [
    *(
        "exp",
        "tanh",
        "sigmoid",
        "sin",
        "cos",
        "log1p",
        "erf",
        "square",
        "abs",
        "sqrt",
        "neg",
        "rsqrt",
        "expm1",
        "floor",
    ),
    *(
        "softplus",
        "silu",
        "gelu",
        "elu",
        "selu",
        "mish",
        "softsign",
        "relu",
        "log_sigmoid",
        "lgamma",
        "digamma",
        "asinh",
    ),
]
FUNCTIONS = {name: getattr(sg, name, None) or getattr(sg.nn.functional, name, None) for name in UNARY}
CASTS = ("float16", "float32", "float64")


class Program:
    """A function of random steps; the same steps at every call, but for its branches."""

    def __init__(self, seed: int, outside: Any):
        self.seed = seed
        self.outside = outside
        self.wants = np.random.default_rng(seed).integers(0, 4)

    def __call__(self, x: Any, y: Any) -> Any:
        rng = np.random.default_rng([self.seed, 1])
        values = [x, y]
        for _ in range(int(rng.integers(3, 9))):
            a, b = (values[int(k)] for k in rng.integers(0, len(values), 2))
            made = STEPS[int(rng.integers(0, len(STEPS)))](a, b, rng, self)
            values.append(made if made.dtype.kind == "f" else made.to(x.dtype))
        kept = values[-1] if self.wants else {"a": values[-1], "b": [values[-2], values[-3]]}
        return kept.sum() if self.wants == 1 else kept


def power(a: Any, b: Any, rng: Any, program: Program) -> Any:
    return sg.abs(a) ** [2, 3, 0.5, 1.7, -1, -0.5, 2.0][int(rng.integers(0, 7))]


def arithmetic(a: Any, b: Any, rng: Any, program: Program) -> Any:
    k = int(rng.integers(0, 8))
    if k < 3:
        return [a + 0.1, 2 * a, a / 3][k]
    other = b if b.shape == a.shape else b.mean()
    return [a + other, a - other, a * other, a / (other * other + 1), sg.where(a > other, a, other)][k - 3]


def smooth(a: Any, b: Any, rng: Any, program: Program) -> Any:
    names = [name for name in UNARY if FUNCTIONS[name] is not None]
    return FUNCTIONS[names[int(rng.integers(0, len(names)))]](a)


def reduced(a: Any, b: Any, rng: Any, program: Program) -> Any:
    k = int(rng.integers(0, 9))
    dim = int(rng.integers(0, a.ndim)) if a.ndim else 0
    if k == 8 and a.ndim > 1:
        return a.T @ a
    if not a.ndim:
        return a * b.sum()
    names = ["sum", "mean", "logsumexp", "amax", "cumsum", "softmax", "norm", "var", "log_softmax"]
    out = getattr(a, names[k])
    return out(dim=dim)


def shaped(a: Any, b: Any, rng: Any, program: Program) -> Any:
    k = int(rng.integers(0, 6))
    if not a.ndim:
        return a.reshape(1)
    return [a.reshape(-1), a.T if a.ndim == 2 else a.flip(0), a[..., 0], a.unsqueeze(0), a[1:], sg.cat([a, a])][k]


def branched(a: Any, b: Any, rng: Any, program: Program) -> Any:
    return a * 0.3 if a.sum() > 0.3 else sg.exp(-abs(a))


def looked(a: Any, b: Any, rng: Any, program: Program) -> Any:
    return a * int(sg.nan_to_num(a.sum(), 0, 1, -1).clamp(-3, 3).item())


def in_place(a: Any, b: Any, rng: Any, program: Program) -> Any:
    made = a.clone()
    if rng.integers(0, 2) and made.ndim and made.shape[0]:
        made[0] = b.mean().to(made.dtype)
        return made.mul_(1.1)
    made.add_(0.7)
    return made.exp_() if rng.integers(0, 2) else made.tanh()


def unrecorded(a: Any, b: Any, rng: Any, program: Program) -> Any:
    with sg.no_grad():
        made = sg.tanh(a) * 3
    return made + a.detach()


def hooked(a: Any, b: Any, rng: Any, program: Program) -> Any:
    made = a * 1.5
    if made.requires_grad:
        made.register_hook(lambda g: g * 2)
    return made


def outer(a: Any, b: Any, rng: Any, program: Program) -> Any:
    return a * (program.outside * 1.3).sum()


def cast(a: Any, b: Any, rng: Any, program: Program) -> Any:
    return a.to(getattr(sg, CASTS[int(rng.integers(0, 3))]))


def lerped(a: Any, b: Any, rng: Any, program: Program) -> Any:
    return sg.lerp(a, a * 0.5 + 1, [0.3, 0.6][int(rng.integers(0, 2))])


STEPS = [
    *(smooth, smooth, smooth, arithmetic, arithmetic, arithmetic, power, reduced, reduced, shaped, branched, looked),
    *(in_place, unrecorded, hooked, outer, cast, lerped),
]


def random_program(seed: int, grad: bool = False, **options: Any) -> Any:
    rng = np.random.default_rng([seed, 2])
    outside = sg.tensor(rng.standard_normal(3))
    program = Program(seed, outside)

    def f(x: Any, y: Any) -> Any:
        return program(x, y)

    def loss(x: Any, y: Any) -> Any:
        return sum((r.double() * 0.37).sum() for r in containers.flatten(program(x, y))[0])

    shapes = [(), (3,), (2, 3), (7,), (4, 40), (3, 1)]
    rows = []
    for _ in range(2):
        shape = shapes[int(rng.integers(0, len(shapes)))]
        other = shapes[int(rng.integers(0, len(shapes)))] if rng.integers(0, 2) else shape
        dtype = np.dtype(["float64", "float32", "float32", "float16"][int(rng.integers(0, 4))])
        for _ in range(2):
            x, y = (np.asarray(rng.standard_normal(s)).astype(dtype) for s in (shape, other))
            rows.append([x.T.copy().T if rng.integers(0, 2) else x, y if rng.integers(0, 2) or y.ndim else y[()]])
    rows += rows[:2]
    return check(sg.func.grad(loss) if grad else f, rows, False, seed, **options)


@pytest.mark.parametrize("seed", range(40))
def test_programs(seed: int) -> None:
    random_program(seed)


@pytest.mark.parametrize("seed", range(20))
def test_gradients(seed: int) -> None:
    random_program(seed, grad=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 600))
def test_more_programs(seed: int) -> None:
    random_program(seed)
    random_program(seed, grad=True)


def test_what_a_decorator_holds_from_outside() -> None:
    scale = 2.0

    def scaled(function):
        @functools.wraps(function)
        def call(x):
            return scale * function(x)

        return call

    f = sg.jit(scaled(lambda x: (x * x).sum()))
    x = np.ones(3)
    assert [float(f(x)) for _ in range(20)] == [6.0] * 20
    scale = 3.0
    assert float(f(x)) == 9.0
