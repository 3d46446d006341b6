"""A program as users write it, with what type checkers are to find; it also runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, assert_type

import numpy as np

import symgrad as sg
import symgrad as torch
import symgrad.nn.functional as F
from symgrad import nn
from symgrad.linalg import inv


def tensors() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    assert_type(x, sg.Tensor)
    assert_type(x @ x + 2 * x - x / 3, sg.Tensor)
    assert_type(2.0**x, sg.Tensor)
    assert_type(Fraction(1, 3) * x, sg.Tensor)
    assert_type(x > 0, sg.Tensor)
    assert_type(x == x, sg.Tensor)
    assert_type(-x, sg.Tensor)
    assert_type(x[0], sg.Tensor)
    assert_type(x[..., None, 0:1], sg.Tensor)
    assert_type(x[x > 1], sg.Tensor)
    assert_type(list(x), list[sg.Tensor])
    assert_type(x.exp().sin().clone().detach(), sg.Tensor)
    assert_type(x.mT if x.ndim > 1 else x, sg.Tensor)
    assert_type(x.shape, sg.Size)
    assert_type(x.shape[0], int)
    assert_type(x.size(0), int)
    assert_type(x.size(), sg.Size)
    assert_type(x.numel(), int)
    assert_type(x.ndim, int)
    assert_type(x.dtype, sg.dtype)
    assert_type(x.device, sg.device)
    assert_type(float(x.detach()[0]), float)
    assert_type(bool(x[0] > 0), bool)
    assert_type(len(x), int)
    assert_type(x.requires_grad, bool)
    assert_type(x.type(), str)
    assert_type(x.type(sg.float64), sg.Tensor)
    assert_type(x.to(sg.float64, copy=True), sg.Tensor)
    assert_type(x.latex(), str)
    x.sum().backward()
    assert x.grad is not None
    assert_type(x.grad.sum(), Any | sg.Tensor)
    assert_type(x.grad.expr, Any)
    x.grad = None
    with sg.no_grad():
        x.add_(1, alpha=2).mul_(3.0).clamp_(min=0)
        x[0] = 4.0
        x -= 0.1
    assert_type(x, sg.Tensor)


def reductions() -> None:
    x = sg.randn(3, 4)
    assert_type(x.sum(), sg.Tensor)
    assert_type(x.sum(dim=0, keepdim=True), sg.Tensor)
    assert_type(x.mean((0, 1), dtype=sg.float64), sg.Tensor)
    assert_type(sg.sum(x, dim=[0, 1]), sg.Tensor)
    assert_type(sg.sum(x, axis=0, keepdims=True), sg.Tensor)
    assert_type(x.cumsum(axis=0), sg.Tensor)
    assert_type(x.max(axis=0).values, sg.Tensor)
    assert_type(x.max(), sg.Tensor)
    assert_type(x.max(x * 2), sg.Tensor)
    assert_type(sg.max(x, dim=0), sg.return_types.max)
    assert_type(x.max(dim=0).values, sg.Tensor)
    values, indices = x.min(1)
    assert_type(values, sg.Tensor)
    assert_type(indices, sg.Tensor)
    assert_type(x.sort(), sg.return_types.sort)
    assert_type(x.topk(2).indices, sg.Tensor)
    assert_type(sg.std_mean(x), tuple[sg.Tensor, sg.Tensor])
    assert_type(x.argmax(dim=1), sg.Tensor)
    assert_type(x.unique(), sg.Tensor)
    assert_type(x.unique(return_counts=True), tuple[sg.Tensor, ...])
    assert_type(x.nonzero(), sg.Tensor)
    assert_type(x.nonzero(as_tuple=True), tuple[sg.Tensor, ...])
    assert_type(sg.where(x > 0, x, 0.0), sg.Tensor)
    assert_type(sg.where(x > 0), tuple[sg.Tensor, ...])
    assert_type(sg.allclose(x, x), bool)
    assert_type(sg.equal(x, x), bool)


def shapes() -> None:
    x = sg.arange(12.0).reshape(3, 4)
    assert_type(x.view(-1, 2), sg.Tensor)
    assert_type(x.view((2, 6)), sg.Tensor)
    assert_type(x.reshape((2, -1)).permute(1, 0), sg.Tensor)
    assert_type(x.expand(2, 3, 4), sg.Tensor)
    assert_type(sg.flip(x, dims=(0,)), sg.Tensor)
    assert_type(sg.permute(x, dims=(1, 0)), sg.Tensor)
    assert_type(x.split(2), tuple[sg.Tensor, ...])
    assert_type(x.unbind(), tuple[sg.Tensor, ...])
    assert_type(sg.cat([x, x], dim=0), sg.Tensor)
    assert_type(sg.stack((x, x)), sg.Tensor)
    assert_type(sg.einsum("ij,kj->ik", x, x), sg.Tensor)
    assert_type(sg.atleast_2d(x), sg.Tensor)
    assert_type(sg.zeros_like(x), sg.Tensor)
    assert_type(x.numpy(), np.ndarray[Any, Any])
    assert_type(x.long().int().double(), sg.Tensor)


def rooms() -> None:
    A = sg.tensor([[2.0, 1.0], [1.0, 3.0]])
    assert_type(sg.linalg.inv(A), sg.Tensor)
    assert_type(inv(A) @ A, sg.Tensor)
    assert_type(sg.linalg.norm(A, ord="fro"), sg.Tensor)
    U, S, Vh = sg.linalg.svd(A, full_matrices=False)
    assert_type(U @ sg.diag(S) @ Vh, sg.Tensor)
    assert_type(sg.linalg.eigh(A).eigenvalues, sg.Tensor)
    assert_type(sg.fft.fft(A).abs(), sg.Tensor)
    assert_type(sg.special.erf(A), sg.Tensor)
    assert_type(sg.masked.sum(A, mask=A > 1), sg.Tensor)
    assert_type(sg.signal.windows.hann(4), sg.Tensor)
    assert_type(F.relu(A), sg.Tensor)
    assert_type(F.softmax(A, dim=-1), sg.Tensor)
    assert_type(nn.functional.mse_loss(A, A, reduction="sum"), sg.Tensor)
    assert_type(F.cross_entropy(A, sg.tensor([0, 1])), sg.Tensor)
    assert_type(F.linear(A, nn.Parameter(A)), sg.Tensor)


def loss(x: sg.Tensor) -> sg.Tensor:
    return (x**2).sum()


def twice(x: sg.Tensor) -> sg.Tensor:
    return 2 * x


class Cube(sg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: sg.Tensor) -> sg.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: sg.Tensor) -> sg.Tensor:
        x: sg.Tensor = ctx.saved_tensors[0]
        return g * 3 * x * x


def of_anything(x: Any) -> Any:
    return Cube.apply(x).sum()


def by_name(weights: dict[str, sg.Tensor]) -> sg.Tensor:
    return weights["w"].sum()


def functions() -> None:
    x = np.array([1.0, 2.0])
    assert_type(sg.func.grad(loss), Callable[..., sg.Tensor])
    assert_type(sg.func.grad(loss)(x), sg.Tensor)
    assert_type(sg.func.grad(by_name)({"w": sg.ones(2)}), dict[str, sg.Tensor])
    sg.func.grad(sg.func.grad(lambda x: x**3))(2.0)
    assert_type(sg.func.value_and_grad(loss)(x), tuple[sg.Tensor, sg.Tensor])
    assert_type(sg.func.grad(of_anything)(x), Any)
    assert_type(sg.func.jacobian(twice)(x), sg.Tensor)
    sg.func.jacfwd(sg.func.jacrev(twice))(x)
    assert_type(sg.func.hessian(loss)(x), sg.Tensor)
    sg.func.jacobian(lambda x: (x * x, 1), has_aux=True)(x)
    sg.func.grad(lambda p: p["w"].sum())({"w": sg.ones(2)})["w"]
    sg.func.grad(lambda a, b: a * b, argnums=(0, 1))(2.0, 3.0)
    assert_type(sg.vmap(loss)(sg.ones(3, 2)), sg.Tensor)
    assert_type(sg.func.jvp(loss, (sg.ones(2),), (sg.ones(2),)), tuple[sg.Tensor, sg.Tensor])
    out, pull = sg.func.vjp(loss, sg.ones(2))
    assert_type(out, sg.Tensor)
    assert_type(pull(sg.tensor(1.0)), tuple[sg.Tensor, ...])
    compiled = sg.compile(loss)
    assert_type(compiled, sg.compiler.Specialised)
    compiled(x)
    program = sg.compile(loss(sg.ones(2).requires_grad_()))
    assert_type(program, sg.compiler.Compiled)
    assert_type(program.source, str)
    assert_type(sg.latex(loss, sg.ones(2)), str)
    assert_type(sg.formula(loss, sg.ones(2)).latex(), str)
    assert_type(sg.check(loss, lambda x: 2 * x, x).ok, bool)
    t = sg.ones(2, requires_grad=True)
    (found,) = sg.autograd.grad(loss(t), t)
    assert_type(found, sg.Tensor)


@sg.jit
def squared(x: sg.Tensor) -> sg.Tensor:
    return x * x


@torch.no_grad()
def evaluated(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    return x * scale


@torch.inference_mode()
def inferred(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def ported() -> None:
    w = torch.randn(2, 3, requires_grad=True)
    out = torch.tanh(w.mm(torch.ones(3, 1)))
    assert_type(out, torch.Tensor)
    out.sum().backward(retain_graph=True)
    with torch.no_grad():
        w -= 0.1 * w.grad
    assert_type(evaluated(out, scale=2.0), torch.Tensor)
    assert_type(inferred(out), torch.Tensor)
    assert_type(torch.max(out, 0)[0], torch.Tensor)
    assert_type(torch.is_tensor(out), bool)
    assert_type(torch.get_default_dtype(), torch.dtype)


class Net(nn.Module):
    """A network of a user's."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Dropout(0.1))
        self.scale = nn.Parameter(sg.ones(1))

    def forward(self, x: sg.Tensor) -> sg.Tensor:
        """Shape (n, 4)."""
        return self.inner(x) * self.scale  # type: ignore[no-any-return]


def modules() -> None:
    """Layers take torch's arguments, by place and by name."""
    net = Net().double().eval()
    assert_type(net, Net)
    made = (
        nn.MSELoss(), nn.MSELoss(reduction="sum"), nn.CrossEntropyLoss(sg.ones(4), label_smoothing=0.1),
        nn.HuberLoss("sum", 2.0), nn.BCELoss(sg.ones(2)), nn.CTCLoss(0), nn.MaxPool2d(2, stride=1), nn.AvgPool3d(2),
        nn.ELU(2.0), nn.Threshold(0.1, 20.0), nn.Upsample(scale_factor=2.0), nn.LocalResponseNorm(2),
        nn.HingeEmbeddingLoss(0.5), nn.Softmax(dim=1), nn.Conv1d(2, 3, 3, padding="same"),
    )  # fmt: skip
    assert all(isinstance(module, nn.Module) for module in made)
    names = [name for name, _ in net.named_parameters()]
    assert_type(names, list[str])
    net.load_state_dict(net.state_dict())


def steps() -> None:
    """Types alone: torch may not be installed, whose optimisers these are."""
    optimizer: Any = sg.optim.Adam([sg.ones(2, requires_grad=True)], lr=0.1)
    sg.optim.lr_scheduler.StepLR(optimizer, 2)


def main() -> None:
    """Run all of it."""
    for part in (tensors, reductions, shapes, rooms, functions, ported, modules):
        part()


if __name__ == "__main__":
    main()
