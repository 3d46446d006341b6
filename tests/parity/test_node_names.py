"""What ``grad_fn`` is called: torch's word for the same operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import symgrad as sg
from tests.parity.test_ops import CALLS, METHODS, flat, lifted, ours, resolve, theirs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

DIFFERENT = {
    "linalg.solve", "inner", "tensordot", "einsum", "logdet", "normalize",
    "linalg.matrix_norm", "linalg.norm", "matrix_norm",
}  # fmt: skip
"""Functions made of other ops in torch, too, whose last node is another one here."""


def node_names(space: Any, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> list[str]:
    make = ours if space is sg else theirs
    outs = flat(function(*(lifted(a, make) for a in args), **options))
    return [out.grad_fn.name() for out in outs if out.grad_fn is not None]


def compare(name: str, here: list[str], there: list[str]) -> None:
    assert here == there or name in DIFFERENT


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("call", CALLS, ids=[f"{c[0]}-{k}" for k, c in enumerate(CALLS)])
def test_functions(call: Any) -> None:
    name, args, options = call
    here, there = resolve(sg, name), resolve(torch, name)
    if here is None or there is None:
        pytest.skip("not in both")
    compare(name, node_names(sg, here, args, options), node_names(torch, there, args, options))


@pytest.mark.parametrize("call", METHODS, ids=[f"{c[0]}-{k}" for k, c in enumerate(METHODS)])
def test_methods(call: Any) -> None:
    name, args, options = call

    def method(x: Any, *rest: Any, **named: Any) -> Any:
        return getattr(x, name)(*rest, **named)

    compare(name, node_names(sg, method, args, options), node_names(torch, method, args, options))


# ------------------------------------------------------------------------------------------ torch's own operators

OTHERWISE = {
    # Several nodes in torch, too, of which the last is another one here.
    "atleast_1d", "cdist", "cov", "diff", "expand", "expand_as", "broadcast_to", "gradient", "inner", "logdet",
    "meshgrid", "normal", "polygamma", "stft", "istft", "sum_to_size", "svd", "tensordot", "to", "triangular_solve",
    "ormqr", "lu", "conj_physical", "unravel_index", "matmul", "__rmatmul__", "unsafe_chunk", "unsafe_split",
    "split_with_sizes", "put", "masked_scatter", "cumprod", "cumsum", "logcumsumexp", "as_strided", "atleast_2d",
    "atleast_3d", "einsum", "gather", "nn.functional.adaptive_avg_pool3d", "nn.functional.batch_norm",
    "nn.functional.ctc_loss", "nn.functional.dropout3d", "nn.functional.gaussian_nll_loss",
    "nn.functional.interpolate", "nn.functional.smooth_l1_loss", "nn.functional.multi_head_attention_forward",
    "nn.functional.pad", "linalg.matrix_power", "linalg.matrix_norm", "linalg.tensorinv",
}  # fmt: skip
"""Operators that torch names otherwise for some of its samples."""


def _operators() -> list[Any]:
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError:
        return []
    spaces = ("", "linalg", "special", "nn.functional")
    return [op for op in op_db if op.supports_autograd and torch.float64 in op.dtypes
            and op.name.rpartition(".")[0] in spaces and not op.name.startswith("_")]  # fmt: skip


def _ours(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        made = sg.tensor(value.detach().numpy().copy())
        return made.requires_grad_() if value.requires_grad else made
    if isinstance(value, (list, tuple)):
        return type(value)(map(_ours, value)) if type(value) in (list, tuple) else value
    return value


def _names(outs: Any) -> list[str]:
    return [type(o.grad_fn).__name__ for o in flat(outs) if getattr(o, "grad_fn", None) is not None]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", _operators(), ids=lambda op: f"{op.name}-{op.variant_test_name}")
def test_operators(op: Any) -> None:
    """Over the samples of torch's own operator tests: overloads, dims, numbers and tensors as arguments."""
    here = resolve(sg, op.name)
    if here is None:
        pytest.skip("not here")
    for k, sample in enumerate(op.sample_inputs("cpu", torch.float64, requires_grad=True)):
        if k == 3:
            break
        there = _names(op.op(sample.input, *sample.args, **sample.kwargs))
        try:
            got = _names(
                here(_ours(sample.input), *_ours(sample.args), **{n: _ours(v) for n, v in sample.kwargs.items()})
            )
        except (AttributeError, TypeError, ValueError, IndexError, RuntimeError, NotImplementedError):
            continue  # a form that is not here; the tests of values see to those
        if got != there and op.name not in OTHERWISE:
            raise AssertionError(f"{sample}: {got}, and torch {there}")


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (1, 2, 3, 4), (1, 2, 2, 3, 4)], ids=str)
def test_attention(shape: tuple[int, ...]) -> None:
    """Heads in batches are one node in torch, unless the mask wants a gradient; else a product comes last."""
    seen = []
    for t in (sg, torch):
        x, mask = t.ones(shape, requires_grad=True), t.zeros(3, 3)
        attend = t.nn.functional.scaled_dot_product_attention
        results = attend(x, x, x), attend(x.detach(), x.detach(), x, mask), attend(x, x, x, is_causal=True)
        results = *results, attend(x, x, x, mask.requires_grad_()), attend(x, x, x, dropout_p=0.5)
        seen.append([y.grad_fn.name() for y in results])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("call", ["fold(x, (3, 3), 2)", "fold(x[0], (3, 3), 2)",
                                  "affine_grid(x[:, :2, :3], (1, 1, 2, 2), False)",
                                  "ctc_loss(x.mT, y, n, n, reduction='none')"])  # fmt: skip
def test_functions_of_images_and_sequences(call: str) -> None:
    seen = []
    for t in (sg, torch):
        x, n = t.ones(1, 8, 4).requires_grad_(), t.tensor([1] * 4)
        names = {"F": t.nn.functional, "x": x, "y": t.tensor([[1]] * 4), "n": n}
        seen.append(eval(f"F.{call}", names).grad_fn.name())
    assert seen[0] == seen[1]


FOURIER = [f"{kind}{axes}" for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for axes in ("", "2", "n")]


@pytest.mark.parametrize("name", FOURIER)
def test_fourier_transforms(name: str) -> None:
    for dtype in ("float64", *(("complex128",) if not name.startswith(("rfft", "ihfft")) else ())):
        here, there = (
            getattr(t.fft, name)(t.ones(4, 4, dtype=getattr(t, dtype), requires_grad=True)).grad_fn.name()
            for t in (sg, torch)
        )
        assert here == there, dtype


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifted_frequencies(name: str) -> None:
    here, there = (getattr(t.fft, name)(t.ones(4, 5, requires_grad=True)).grad_fn.name() for t in (sg, torch))
    assert here == there


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy(reduction: str, smoothing: float) -> None:
    def names(t: Any) -> list[str]:
        scores = t.ones(2, 3, requires_grad=True)
        options = {"reduction": reduction, "label_smoothing": smoothing}
        targets = (t.tensor([0, 1]), t.ones(2, 3) / 3)
        return [t.nn.functional.cross_entropy(scores, target, **options).grad_fn.name() for target in targets]

    assert names(sg) == names(torch)


def test_arguments_by_name() -> None:
    """All that is given is given by name, in torch's order."""

    def names(t: Any) -> list[str]:
        x, image = t.ones(2, 3, requires_grad=True), t.ones(1, 1, 2, 2, requires_grad=True)
        classes, chances, loss = t.tensor([0, 1]), t.ones(2, 3) / 3, t.nn.functional.cross_entropy
        resized = {"size": None, "align_corners": None, "recompute_scale_factor": None}
        options = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None}
        made = (
            t.sort(input=x, dim=0, descending=True, stable=True)[0],
            x.sort(stable=True, descending=False, dim=0)[0],
            t.nn.functional.interpolate(image, scale_factor=2.0, mode="bilinear", antialias=True, **resized),
            t.nn.functional.interpolate(image, size=(3, 3), scale_factor=None, mode="bicubic"),
            loss(input=x, target=classes, reduction="mean", label_smoothing=0.1, **options),
            loss(x, chances, None, None, -100, None, "sum", 0.1),
        )
        return [out.grad_fn.name() for out in made]

    assert names(sg) == names(torch)


# ------------------------------------------------------------------------------------------ nodes of single programs

WRITES = """
x[t.tensor(True)] = 3.0
x[t.tensor(False)] = 3.0
x[True] = 3.0
x[False] = 3.0
x[x.sum() > 0] = t.tensor(3.0)
x[t.tensor(True), 0] = 3.0
x[0, t.tensor(True)] = 3.0
x[None, True] = 3.0
x[t.tensor(True), t.tensor([0, 1])] = 3.0
x[x > 0] = 3.0
""".strip().splitlines()


@pytest.mark.parametrize("line", WRITES)
def test_writes_by_masks(line: str) -> None:
    rows = []
    for t in (sg, torch):
        x = t.ones(2, requires_grad=True) * 1
        exec(line, {"t": t, "x": x})
        before = x.grad_fn.next_functions[0][0].name()
        rows.append((x.grad_fn.name(), before, type(x.grad_fn).__name__, x.tolist()))
    assert rows[0] == rows[1]


def test_instance_norm() -> None:
    rows = []
    for t in (sg, torch):
        x = t.arange(24.0).reshape(2, 3, 4).requires_grad_()
        plain, scaled = (t.nn.functional.instance_norm(x, weight=w) for w in (None, t.ones(3)))
        running = t.nn.functional.instance_norm(x, t.zeros(3), t.ones(3), use_input_stats=False)
        old = t.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
        other = t.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
        rows.append([y.grad_fn.name() for y in (plain, scaled, running, old, other)])
    assert rows[0] == rows[1]


def test_texts_of_nodes() -> None:
    rows = []
    for t in (sg, torch):

        class Twice(t.autograd.Function):  # type: ignore[name-defined,misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        x = t.ones(2, requires_grad=True)
        put = x * 1
        put[0] = 2.0
        nodes = (Twice.apply(x).grad_fn, (x * 2).grad_fn, put.grad_fn)
        rows.append([repr(node).split(" at ")[0] for node in nodes])
    assert rows[0] == rows[1]


BESIDE_NUMBERS = """
t.rsub(x, 3)
t.rsub(x, 3, alpha=2)
t.rsub(x, x)
3 - x
t.xlogy(x, 2)
t.xlogy(2, x)
t.xlogy(x, x)
t.special.xlog1py(x, 2)
t.special.xlog1py(2, x)
t.special.xlog1py(x, x)
t.special.zeta(2, x)
t.special.zeta(x, 2)
t.special.zeta(x, x)
""".strip().splitlines()


@pytest.mark.parametrize("call", BESIDE_NUMBERS)
def test_beside_numbers(call: str) -> None:
    """The name tells which operands are tensors, and only these are inputs."""
    seen = []
    for t in (sg, torch):
        x = t.tensor([1.5, 2.0], requires_grad=True)
        node = eval(call, {"t": t, "x": x}).grad_fn
        seen.append((node.name(), len(node.next_functions)))
    assert seen[0] == seen[1]
