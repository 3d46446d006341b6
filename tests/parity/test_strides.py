"""``as_strided`` reads memory as torch's does: of tensors with gaps, turned, repeated; its result is a view."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer

LAYOUTS = {
    "row by row": lambda t: t.arange(12.0).reshape(3, 4),
    "every other": lambda t: t.arange(24.0).reshape(3, 4, 2)[..., 1],
    "turned": lambda t: t.arange(12.0).reshape(4, 3).T,
    "from the middle": lambda t: t.arange(24.0)[5:17].reshape(3, 4),
    "repeated": lambda t: t.arange(12.0)[4:8].expand(3, 4),
    "axes in another order": lambda t: t.arange(24.0).reshape(2, 3, 4).permute(1, 2, 0),
}
READINGS = {
    "a window": ((2, 2), (1, 2)),
    "at an offset": ((2, 3), (1, 1), 3),
    "one place often": ((3, 2), (0, 1), 2),
    "nothing": ((0, 2), (1, 1)),
    "one": ((), (), 4),
}


@pytest.mark.parametrize(
    ("size", "stride"), [((1,), (1,)), ((2, 1, 1, 2), (1, 7, 7, 1)), ((1, 3), (5, 1)), ((0, 2), (3, 1))]
)
def test_axes_of_one_entry_have_the_strides_that_were_asked_for(size: tuple[int, ...], stride: tuple[int, ...]) -> None:
    for t in (torch, sg):
        shown = t.arange(16.0).as_strided(size, stride, 2)
        assert (shown.stride(), shown[None].stride()[1:]) == (stride, stride)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("reading", READINGS)
def test_values_and_slopes(layout: str, reading: str) -> None:
    def answers(t: Any) -> list[Any]:
        x = LAYOUTS[layout](t).detach().requires_grad_()
        out = x.as_strided(*READINGS[reading])
        weights = t.arange(1.0, out.numel() + 1).reshape(out.shape)
        (slope,) = t.autograd.grad((out * weights).sum(), x)
        # torch shares a slope among entries in one place
        return [out.tolist(), slope.sum(0).tolist() if layout == "repeated" else slope.tolist()]

    assert answers(sg) == answers(torch)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_overwritten_entries(layout: str) -> None:
    def answer(t: Any) -> Any:
        return t.as_strided_scatter(LAYOUTS[layout](t), t.tensor([-1.0, -2.0]), (2,), (2,), 8).tolist()

    if layout != "repeated":
        assert answer(sg) == answer(torch)


def test_a_view() -> None:
    def answers(t: Any) -> list[Any]:
        x = t.arange(6.0, requires_grad=True)
        y = x * 2
        part = y.as_strided((2, 2), (3, 1), 1)
        part.mul_(10)
        (slope,) = t.autograd.grad(y.sum(), x)
        other = t.zeros(2, 3)
        other.T.as_strided((2,), (4,)).fill_(5)
        place = t.arange(6.0)
        t.as_strided_(place, (2, 2), (1, 2))
        return [part._base is y, part.stride(), part.storage_offset(), y.tolist(), slope.tolist(), other.tolist(),
                place.tolist()]  # fmt: skip

    assert answers(sg) == answers(torch)


def test_places_outside() -> None:
    for t in (torch, sg):
        with pytest.raises(RuntimeError, match=r"out of bounds for storage of size 16"):
            t.ones(2, 2).as_strided((2, 2), (2, 200))


SINGLES = ["exp", "tanh", "sqrt", "abs", "relu", "lgamma", "sign", "isnan", "logical_not", "neg"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", SINGLES)
def test_results_of_what_is_repeated_lie_row_by_row(name: str, dtype: str) -> None:
    def answers(t: Any) -> list[Any]:
        x = (t.arange(24.0) / 24).to(getattr(t, dtype)).view(4, 6)
        shown = [
            x.T,
            x.expand(2, 4, 6),
            x[:, 1:3],
            x[:1].expand(4, 6),
            x.T.expand(2, 6, 4),
            x.view(2, 2, 6).permute(2, 0, 1),
        ]
        return [getattr(t, name)(part).stride() for part in shown]

    assert answers(sg) == answers(torch)
    repeated = sg.arange(3.0).to(getattr(sg, dtype)).expand(2, 3)
    assert getattr(sg, name)(repeated).view(6).shape == (6,)


@pytest.mark.parametrize("view", ["x.conj()", "x.conj().T", "x.conj().imag", "x.mH", "x[:, 1:].conj()"])
def test_conjugates_of_nothing(view: str) -> None:
    def steps(t: Any) -> tuple[int, ...]:
        x = t.zeros((0, 3), dtype=t.complex128, requires_grad=True)
        return eval(view, {"x": x}).detach().stride()

    assert steps(sg) == steps(torch)


def test_copies_name_their_node() -> None:
    def names(t: Any) -> list[str]:
        x, y = t.ones(2, dtype=t.float32, requires_grad=True), t.ones(2, dtype=t.float64)
        return [y.copy_(x).grad_fn.name(), type(y.grad_fn).__name__]

    assert names(sg) == names(torch)


PARTS = [None, slice(None), slice(None, -1), slice(0, 0), slice(1, 2), slice(None, None, 2), 0, slice(5, None), ...]


@pytest.mark.parametrize("shape", [(1, 3), (5, 3), (1, 1), (0, 3), (2, 1, 3), (3,)])
def test_strides_of_parts_with_new_axes_and_without_entries(shape: tuple[int, ...]) -> None:
    """A new axis reaches over the whole axis behind it, also where a slice leaves nothing of that."""

    def strides(t: Any, x: Any, parts: Any) -> Any:
        return x[parts].stride(), x.unsqueeze(-1)[parts].unsqueeze(0).stride()

    for count in (1, 2, 3):
        for parts in itertools.product(PARTS, repeat=count):
            numbers = sum(part is not None and part is not ... for part in parts)
            if numbers > len(shape) or parts.count(...) > 1 or (0 in parts and 0 in shape):
                continue
            assert strides(sg, sg.zeros(shape), parts) == strides(torch, torch.zeros(shape), parts), parts


@pytest.mark.parametrize(
    "reading", ["sum(0)", "sum(1)", "mean(0)", "mean(1)", "norm(1, 0)", "norm(2, 1)", "norm(3, 1)"]
)
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 9), (40, 5)])
def test_sums_of_single_precision_lie_in_memory_of_their_own(shape: tuple[int, ...], reading: str) -> None:
    def answer(t: Any) -> Any:
        made = eval(f"t.ones(*shape).{reading}", {"t": t, "shape": shape})
        return made.stride(), made.storage_offset(), made.is_contiguous()

    assert answer(sg) == answer(torch)


COMPLEX_PARTS = [
    "x.real",
    "x.imag",
    "x.real[1:]",
    "x.T.real",
    "t.view_as_real(x)",
    "t.view_as_real(x)[..., 1]",
    "x[0].imag",
]


@pytest.mark.parametrize("reading", [((1,), (1,), 1), ((2,), (2,), None), ((2, 2), (2, 1), 1), ((2,), (3,), 0)])
@pytest.mark.parametrize("part", COMPLEX_PARTS)
def test_parts_of_complex_numbers(part: str, reading: Any) -> None:
    """The places are those of the real numbers, of which a complex one has two."""

    def facts(t: Any) -> Any:
        row = []
        for recorded in (True, False):
            x = t.tensor([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]], dtype=t.complex128, requires_grad=recorded)
            v = eval(part, {"x": x, "t": t}).as_strided(*reading)  # noqa: S307
            row.append((v.shape, v.tolist(), v.stride(), v.storage_offset(), v.element_size()))
            if recorded:
                v.sum().backward()
                row.append(x.grad.tolist())
            else:
                row.append(v.mul_(10).tolist())
                row.append(x.tolist())
        return row

    assert facts(sg) == facts(torch)


@pytest.mark.parametrize("first", [(0,), (3, 0), (1, 3, 1), (2,)])
def test_views_of_another_shape_by_now(first: tuple[int, ...]) -> None:
    """``resize_`` lays rows one after the other; strides of a view without entries were those of its old shape."""

    def facts(t: Any) -> Any:
        x, y = t.arange(6.0).view(2, 3), t.ones(3, 4).t()[:0]
        return [(v.resize_(shape).stride(), v.is_contiguous()) for v in (x, y) for shape in (first, (0, 2, 2))]

    assert facts(sg) == facts(torch)
