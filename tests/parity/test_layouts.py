"""How results of operands that lie differently in memory lie themselves: strides, and whether views of them are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.parity.test_histories import values

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer

MATRICES = {
    "rows": lambda t: t.ones(2, 3),
    "columns": lambda t: t.ones(3, 2).t(),
    "a row": lambda t: t.ones(3),
    "a column": lambda t: t.ones(2, 1),
    "gaps": lambda t: t.ones(4, 6)[::2, ::2],
    "turned gaps": lambda t: t.ones(6, 4)[::2, ::2].t(),
    "doubles in columns": lambda t: t.ones(3, 2, dtype=t.float64).t(),
    "spread": lambda t: t.ones(2, 1).expand(2, 3),
}
BLOCKS = {
    "in order": lambda t: t.ones(2, 3, 4),
    "last first": lambda t: t.ones(3, 4, 2).permute(2, 0, 1),
    "first two turned": lambda t: t.ones(3, 2, 4).permute(1, 0, 2),
    "first last": lambda t: t.ones(4, 2, 3).permute(1, 2, 0),
    "of one axis": lambda t: t.ones(3, 1),
    "of turned axes": lambda t: t.ones(4, 3).t(),
}
TWO: dict[str, Any] = {
    "mul": lambda t, a, b: a * b,
    "less": lambda t, a, b: a < b,
    "atan2": lambda t, a, b: t.atan2(a, b),
    "where": lambda t, a, b: t.where(a > b, b, a),
    "recorded": lambda t, a, b: a.clone().requires_grad_() / b,
}


def strides(t: Any, name: str, a: Any, b: Any) -> Any:
    out = TWO[name](t, a(t), b(t))
    sizes = tuple(out.shape)
    return [step for step, size in zip(out.stride(), sizes, strict=True) if size > 1], out.is_contiguous()


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("layouts", [MATRICES, BLOCKS], ids=["matrices", "blocks"])
def test_results_of_two(name: str, layouts: Any) -> None:
    for a, b in itertools.product(layouts, layouts):
        assert strides(sg, name, layouts[a], layouts[b]) == strides(torch, name, layouts[a], layouts[b]), (a, b)


@pytest.mark.parametrize("copy", ["x.clone()", "x.double()", "x.bool()", "x.exp()", "x.contiguous()"])
@pytest.mark.parametrize(
    "made", ["t.ones(3, 5).t()[None]", "t.ones(3, 5).t()[:, None]", "t.ones(3, 5)[:, ::2].t()[None]", "t.ones(3, 1, 5)"]
)
def test_copies_with_axes_of_one(copy: str, made: str) -> None:
    def answers(t: Any) -> Any:
        y = eval(copy, {"x": eval(made, {"t": t})})  # noqa: S307
        return [s for s, n in zip(y.stride(), y.shape, strict=True) if n > 1], y.is_contiguous(), y.mT.is_contiguous()

    assert answers(sg) == answers(torch)


@pytest.mark.parametrize("copy", ["x.clone()", "x.double()", "x.bool()", "x.half()"])
@pytest.mark.parametrize(
    "made", ["t.ones(1, 3)[:, :1]", "t.ones(2, 1, 3).diagonal()", "t.ones(3)[::3]", "t.ones(3)[None]", "t.ones(2, 1)"]
)
def test_steps_along_axes_of_one(copy: str, made: str) -> None:
    def answers(t: Any) -> Any:
        return eval(copy, {"x": eval(made, {"t": t})}).stride()  # noqa: S307

    assert answers(sg) == answers(torch)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 3, 3)])
@pytest.mark.parametrize(
    "call",
    [
        "t.linalg.eigh(x + x.mT)[1]", "t.linalg.svd(x)[0]", "t.linalg.svd(x)[2]", "t.svd(x)[2]", "t.linalg.qr(x)[0]",
        "t.linalg.qr(x)[1]", "t.linalg.eig(x)[1]", "t.linalg.lu_factor(x)[0]", "t.linalg.cholesky(x @ x.mT)",
        "t.linalg.solve_triangular(x, y, upper=False)", "t.linalg.solve_triangular(x.mT, y, upper=True)",
        "t.triangular_solve(y, x, upper=False)[0]", "t.cholesky_solve(y, x)", "t.lu_solve(y, *t.linalg.lu_factor(x))",
        "t.linalg.lu(x)[1]",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*triangular_solve is deprecated", "ignore:.*lu_solve is deprecated")
def test_factors_lie_as_lapack_leaves_them(call: str, shape: tuple[int, ...], turned: bool) -> None:
    """Column by column, with a gradient and without: a view in another shape of one is refused in both libraries."""

    def answers(t: Any, tracked: bool) -> Any:
        n = shape[-1]
        x = t.arange(1.0, n * n + 1, dtype=t.float64).reshape(n, n).tril() + 2 * t.eye(n, dtype=t.float64)
        x = x.expand(shape).clone()
        x = (x.mT.contiguous().mT if turned else x).requires_grad_(tracked)
        y = eval(call, {"t": t, "x": x, "y": t.ones(*shape[:-1], 4, dtype=t.float64)})  # noqa: S307
        return y.stride(), y.is_contiguous()

    for tracked in (False, True):
        assert answers(sg, tracked) == answers(torch, tracked)


@pytest.mark.parametrize("shape", [(12,), (2, 12)])
@pytest.mark.filterwarnings("ignore:stft with return_complex=False")
def test_spectra_lie_frame_by_frame(shape: tuple[int, ...]) -> None:
    def answers(t: Any) -> Any:
        x, w = t.ones(shape), t.ones(4)
        made = [t.stft(x, 4, 2, window=w, return_complex=both) for both in (True, False)]
        return [y.stride() for y in made], made[0]._is_view(), made[0].is_contiguous()

    assert answers(sg) == answers(torch)


@pytest.mark.parametrize("n", [1, 2])
def test_solutions_lie_column_by_column(n: int) -> None:
    def answers(t: Any) -> Any:
        return t.linalg.solve(t.eye(3), t.ones(3, n)).stride(), t.linalg.inv(t.eye(n)).stride()

    assert answers(sg) == answers(torch)


@pytest.mark.parametrize(
    "copy",
    [
        "x.masked_fill(x > 0, 1.0)",
        "x.masked_scatter(x > 0, t.arange(24.0))",
        "x.masked_fill(x > 0, t.tensor(1.0))",
        "x.index_put((t.tensor([0]),), t.tensor(1.0))",
        "x.select_scatter(x[0] * 2, 0, 0)",
        "x.slice_scatter(x[:1] * 2, 0, 0, 1)",
        "x.diagonal_scatter(x.diagonal() * 2)",
        "x.diagonal_scatter(x.diagonal(1, -1, 0) * 2, 1, -1, 0)",
    ],
)
@pytest.mark.parametrize("made", ["t.ones(3, 4)", "t.ones(3, 4).t()", "t.ones(2, 3, 4).permute(2, 0, 1)"])
def test_copies_with_parts_replaced(copy: str, made: str) -> None:
    """Row by row where a mask was filled, else as what they are copies of; none of them is a view of anything."""

    def answers(t: Any) -> Any:
        y = eval(copy, {"x": eval(made, {"t": t}).requires_grad_(), "t": t})  # noqa: S307
        return y.stride(), y._is_view(), type(y.grad_fn).__name__

    assert answers(sg) == answers(torch)


@pytest.mark.parametrize("cut", ["x[-1]", "x[:1]", "x.mT", "x[None]", "x[..., :1]", "x.squeeze()", "x.reshape(0)"])
def test_strides_of_parts_of_nothing(cut: str) -> None:
    program = f"x = t.tensor(x); out = ({cut}).stride()"
    assert values(sg, program, x=np.array([[], []])) == values(torch, program, x=np.array([[], []]))


@pytest.mark.parametrize("shape", [(2, 3, 1), (3, 2), (2, 3)])
@pytest.mark.parametrize("turned", [False, True])
def test_copies_of_repeated_memory_lie_row_by_row(shape, turned):
    array = np.broadcast_to(np.arange(float(shape[-1])), shape)
    array = array.T if turned else array
    assert sg.tensor(array).stride() == torch.tensor(array).stride()
