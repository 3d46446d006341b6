"""What a program makes of sizes, n // 2 rows or 2n entries, holds in its file at other sizes, or is refused there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F  # noqa: N812  (as everybody calls it)


def row(n: int) -> Any:
    return np.arange(1.0, n + 1)


def halves_written(x: Any) -> Any:
    h = x.shape[0] // 2
    z = x * 1
    z[:h] = 7.0
    z[h:] += x[h:] ** 2
    return z


def filled_up(x: Any) -> Any:
    h = x.shape[0] // 2
    z = sg.zeros(x.shape[0], dtype=sg.float64)
    z[:h] = x[:h] ** 2
    return z


def quarter_written(x: Any) -> Any:
    h = x.shape[0] // 2
    z = sg.outer(x, x)
    z[:h, h:] = 0.0
    return z


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "halves written": halves_written,
    "zeros filled up": filled_up,
    "a quarter written": quarter_written,
    "half a border": lambda x: F.pad(x, (x.shape[0] // 2, x.shape[0])) ** 2,
    "np.pad": lambda x: np.pad(x, (x.shape[0] // 2, 1)) ** 2,
    "the larger half": lambda x: x.topk(x.shape[0] // 2).values ** 2,
    "the one in the middle": lambda x: x.kthvalue(x.shape[0] // 2).values * x,
    "three of three": lambda x: x.topk(3).values,
    "half an identity": lambda x: sg.eye(x.shape[0] // 2) * x.sum(),
    "twice as many frequencies": lambda x: sg.abs(sg.fft.rfft(x, n=2 * x.shape[0])),
    "half as many frequencies": lambda x: sg.abs(sg.fft.rfft(x, n=x.shape[0] // 2)),
    "tiles": lambda x: x.tile(x.shape[0] - 1) ** 2,
    "angles of a polygon": lambda x: x * (2 * np.pi / x.shape[0]),
    "waves in all samples": lambda x: x * sg.sin(sg.arange(x.shape[0], dtype=sg.float64) * (2 * np.pi / x.shape[0])),
    "frequencies": lambda x: x * sg.fft.fftfreq(x.shape[0], 0.1, dtype=sg.float64),
    "half of the frequencies": lambda x: sg.abs(sg.fft.rfft(x)) * sg.fft.rfftfreq(len(x), 0.1, dtype=sg.float64),
    "in a window": lambda x: x * sg.hann_window(x.shape[0], periodic=False, dtype=sg.float64),
    "convolved with itself": lambda x: np.convolve(x, x, mode="same"),
}


def outcome(call: Callable[[], Any]) -> Any:
    try:
        found = call()
    except Exception:  # noqa: BLE001  (a program refuses what its function refuses, whatever the error)
        return None
    return np.asarray(getattr(found, "_value", found))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_hold_at_other_sizes(name: str) -> None:
    function = PROGRAMS[name]
    program = sg.compile(function, sg.tensor(row(3 if "three" in name else 6))).program
    for n in (3, 4, 5, 9, 10):
        wanted, found = outcome(lambda n=n: function(sg.tensor(row(n)))), outcome(lambda n=n: program(row(n)))
        assert wanted is not None
        assert found is not None
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_hold_at_other_sizes(name: str) -> None:
    def loss(x: Any) -> Any:
        return (PROGRAMS[name](x) ** 2).sum()

    program = sg.compile(sg.func.grad(loss), sg.tensor(row(3 if "three" in name else 6))).program
    for n in (4, 5, 9):
        wanted = sg.func.grad(loss)(sg.tensor(row(n)))
        np.testing.assert_allclose(program(row(n)), wanted.numpy(), rtol=1e-10)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(x.shape[0] // 2, 2).sum(1),
        lambda x: x.reshape(2, x.shape[0] // 2).sum(1),
        lambda x: x.reshape(-1, 2).sum(1),
        lambda x: x.view(2, -1).cumsum(1),
    ],
    ids=["halves by two", "two halves", "open by two", "two open"],
)
def test_rows_of_two_hold_for_even_numbers(function: Callable[[Any], Any], tmp_path: Any) -> None:
    recorded = sg.compile(function(sg.tensor(row(6), requires_grad=True, name="x")), ["x"])
    for program in (sg.compile(function, sg.tensor(row(6))).program, recorded):
        np.testing.assert_allclose(program(row(10)), function(sg.tensor(row(10))).numpy())
        with pytest.raises((sg.errors.ShapeError, sg.errors.ArgumentError)):
            program(row(5))
        program.save(tmp_path / "rows.py")
        assert "n mod 2 = 0" in (tmp_path / "rows.py").read_text()


@pytest.mark.parametrize("made", [sg.arange, sg.fft.fftfreq], ids=["arange", "fftfreq"])
def test_ranges_of_one_entry_are_longer_where_sizes_are(made: Callable[..., Any]) -> None:
    """The half of two entries is one, which was the constant of a recorded graph at every size, silently."""

    def function(x: Any) -> Any:
        return made(x.shape[0] // 2, dtype=sg.float64) * x[0]

    program = sg.compile(function(sg.tensor(row(2), requires_grad=True, name="x")), ["x"])
    for n in (2, 4, 7):
        np.testing.assert_array_equal(program(row(n)), function(sg.tensor(row(n))).numpy())


def test_arrays_of_the_function_are_asked_for_at_other_sizes(tmp_path: Any) -> None:
    sg.compile(lambda x: x * np.blackman(len(x)), row(6), name="f").save(tmp_path / "f.py")
    spaces: dict[str, Any] = {"__name__": "f"}
    exec((tmp_path / "f.py").read_text(), spaces)  # noqa: S102  (a file that was just written)
    np.testing.assert_allclose(spaces["f"](row(9), c1=np.blackman(9)), row(9) * np.blackman(9))
    with pytest.raises(
        ValueError, match=r"c1 must have shape \(n,\), and n is 9 in x; its default is as long as it was"
    ):
        spaces["f"](row(9))


def test_recorded_graphs_write_halves() -> None:
    for name in ("halves written", "half a border", "the larger half"):
        x = sg.tensor(row(6), requires_grad=True, name="x")
        program = sg.compile(PROGRAMS[name](x), ["x"])
        for n in (4, 7, 10):
            np.testing.assert_allclose(program(row(n)), PROGRAMS[name](sg.tensor(row(n))).numpy())


@pytest.mark.parametrize(
    "function",
    [lambda x: x.narrow(0, 3, 5) * 2, lambda x: F.pad(x[None], (2, 2), "reflect")],
    ids=["narrow", "reflect"],
)
def test_ranges_of_numbers_are_as_long_or_refused(function: Callable[[Any], Any]) -> None:
    x = sg.tensor(row(9), requires_grad=True, name="x")
    for program in (sg.compile(function, sg.tensor(row(9))).program, sg.compile(function(x), ["x"])):
        for n in (9, 8, 7, 3, 2, 1):
            wanted, found = outcome(lambda n=n: function(sg.tensor(row(n)))), outcome(lambda n=n: program(row(n)))
            assert (wanted is None) == (found is None)
            if wanted is not None:
                np.testing.assert_array_equal(found, wanted)


def counted(x: Any) -> Any:
    return sg.arange(x.shape[0], dtype=sg.float64)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sg.fft.fftshift(counted(x)) * x,
        lambda x: counted(x).select(0, x.shape[0] // 2) * x,
        lambda x: sg.ones(x.shape[0], x.shape[0], dtype=sg.float64).tril(x.shape[0] // 2) @ x,
        lambda x: sg.cos(sg.outer(counted(x), counted(x)) * (3.14159 / x.shape[0])) @ x,
        lambda x: sg.full((x.shape[0],), 1.0 / x.shape[0], dtype=sg.float64) * x,
        lambda x: sg.block_diag(x, x[:2]).sum(0),
        lambda x: sg.diag_embed(x, 1).sum(0),
        lambda x: np.pad(x, 2, mode="edge"),
        lambda x: np.pad(x, (0, 1), mode="reflect"),
        lambda x: np.delete(x, x.shape[0] // 2),
        lambda x: np.insert(x, x.shape[0] // 2, 3.0),
        lambda x: np.take(x, [0, x.shape[0] // 2]),
    ],
    ids=[
        "shifted",
        "middle",
        "triangle",
        "waves",
        "filled",
        "blocks",
        "diagonal",
        "edge",
        "reflect",
        "del",
        "ins",
        "take",
    ],
)
def test_recorded_graphs_hold_at_other_sizes_or_refuse_them(function: Callable[[Any], Any]) -> None:
    """Numbers made of sizes in the recipes of constants, lengths of blocks and places were kept, silently."""
    program = sg.compile(function(sg.tensor(row(6), requires_grad=True, name="x")), ["x"])
    np.testing.assert_allclose(program(row(6)), function(sg.tensor(row(6))).numpy())
    for n in (2, 3, 4, 5, 7, 8, 13):
        found = outcome(lambda n=n: program(row(n)))
        if found is not None:
            np.testing.assert_allclose(found, function(sg.tensor(row(n))).numpy(), atol=1e-12)


def test_blocks_on_diagonals_are_of_any_size() -> None:
    for function in (lambda x: sg.block_diag(x, x[:2]).sum(0), lambda x: sg.diag_embed(x, -2).sum(1)):
        program = sg.compile(function(sg.tensor(row(6), requires_grad=True, name="x")), ["x"])
        for n in (3, 5, 7, 8):
            np.testing.assert_array_equal(program(row(n)), function(sg.tensor(row(n))).numpy())
