"""One suite for the whole table: every law on every op, on all of its samples or on those whose turn it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.op import TABLE
from symgrad.proving import laws
from symgrad.proving.samples import cases, make_case, ops, samples
from tests.turns import in_turn

ALL = pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in cases()))
COMPLEX = pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in cases(complex_too=True)))


def on_samples(name: str, law: Callable[[int], None], chosen: Iterable[int] | None = None) -> None:
    """Hold a law against every sample of an op, each from the same random state; what fails says of which."""
    for k in range(len(samples(TABLE[name]))) if chosen is None else chosen:
        sg.manual_seed(0)
        try:
            law(k)
        except BaseException as error:
            error.add_note(f"{name}: sample {k}")
            raise


def test_entries_are_complete() -> None:
    for op in ops():
        assert samples(op), f"{op.name} has no sample: give its entry a domain, or samples"
        assert op.doc, f"{op.name} has no docstring"
        assert op.domain, f"{op.name} has no domain"
        assert op.infer is not None, f"{op.name} has no shape rule"


@pytest.mark.parametrize("name", [op.name for op in ops() if "c" in op.refuses])
def test_what_the_complex_laws_leave_out_is_refused(name: str) -> None:
    # An op without a complex form must not compute with the real parts alone.
    args, params = make_case(name, 0, dtype=np.complex128)
    tensors = [sg.tensor(a) if isinstance(a, np.ndarray | np.generic) else a for a in args]
    if not any(sg.is_tensor(a) and a.is_complex() for a in tensors):
        tensors[0] = tensors[0].to(sg.complex128)
    with pytest.raises(SymgradError):
        TABLE[name](*tensors, **params)


@pytest.mark.parametrize("k", range(len(samples(TABLE["floor_divide"]))))
def test_floor_divide_refuses_to_be_differentiated(k: int) -> None:
    args, _ = make_case("floor_divide", k)
    laws.value_law(TABLE["floor_divide"], (args, {}))
    x = sg.tensor(args[0], requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (x // args[1]).sum().backward()


@ALL
def test_value(name: str) -> None:
    on_samples(name, lambda k: laws.value_law(TABLE[name], make_case(name, k)))


@ALL
def test_vjp(name: str) -> None:
    on_samples(name, lambda k: laws.vjp_law(TABLE[name], make_case(name, k)))


@ALL
def test_jvp(name: str) -> None:
    on_samples(name, lambda k: laws.jvp_law(TABLE[name], make_case(name, k)))


@ALL
def test_columns(name: str) -> None:
    on_samples(name, lambda k: laws.columns_law(TABLE[name], make_case(name, k)))


@ALL
def test_rows(name: str) -> None:
    on_samples(name, lambda k: laws.rows_law(TABLE[name], make_case(name, k)))


@ALL
def test_second_order(name: str) -> None:
    on_samples(name, lambda k: laws.second_order_law(TABLE[name], make_case(name, k)), in_turn(name, 3))


@ALL
def test_formula(name: str) -> None:
    on_samples(name, lambda k: laws.formula_law(TABLE[name], name, k))


@ALL
def test_code(name: str) -> None:
    # Values of its own: of matrices that were decomposed before, the kernel may know the rest to the last bit but one.
    on_samples(name, lambda k: laws.code_law(TABLE[name], make_case(name, k, seed=31)))


@ALL
def test_compiled(name: str) -> None:
    on_samples(name, lambda k: laws.compiled_law(TABLE[name], make_case(name, k)))


@ALL
def test_float32(name: str) -> None:
    on_samples(name, lambda k: laws.single_law(name, k))


@ALL
@pytest.mark.parametrize(("dtype", "turn"), [("float16", 0), ("bfloat16", 1)])
def test_narrow(name: str, dtype: str, turn: int) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    with np.errstate(all="ignore"):
        on_samples(name, lambda k: laws.narrow_law(name, k, dtype), in_turn(name, turn))


@COMPLEX
def test_complex(name: str) -> None:
    def law(k: int) -> None:
        case = make_case(name, k, dtype=np.complex128)
        laws.value_law(TABLE[name], case)
        laws.vjp_law(TABLE[name], case)
        laws.jvp_law(TABLE[name], case)
        laws.columns_law(TABLE[name], case)

    on_samples(name, law)


@COMPLEX
def test_complex_second_order(name: str) -> None:
    def law(k: int) -> None:
        laws.second_order_law(TABLE[name], make_case(name, k, dtype=np.complex128))

    on_samples(name, law, in_turn(name, 4))


@COMPLEX
def test_complex_formula(name: str) -> None:
    on_samples(name, lambda k: laws.formula_law(TABLE[name], name, k, np.complex128))
