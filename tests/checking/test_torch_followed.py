"""Functions written for torch are followed operation by operation: exact derivatives, formulas, and named mistakes."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


class Windows(torch.autograd.Function):
    """A convolution with a stride, and a ``mistake`` in its backward."""

    mistake = ""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.nn.functional.conv1d(x, w, stride=2, padding=1)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        m, padded = Windows.mistake, torch.nn.functional.pad(x, (1, 1))
        dx, dw = torch.zeros_like(padded), torch.zeros_like(w)
        for t in range(g.shape[2]):
            at = t if m == "stride" else 2 * t
            dw += torch.einsum("no,nck->ock", g[:, :, t], padded[:, :, at : at + 3])
            part = torch.einsum("no,ock->nck", g[:, :, t], w.flip(2) if m == "flip" else w)
            dx[:, :, 2 * t : 2 * t + 3] = part + (0 if m == "overwritten" else dx[:, :, 2 * t : 2 * t + 3])
        return dx[:, :, 1:-1], dw


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("stride", "step=1 in place of step=2"),
        ("flip", "w turned round along axis 2"),
        ("overwritten", "last time only"),
    ],
)
def test_mistakes_of_custom_functions_are_named(mistake, words, monkeypatch):
    x, w = torch.tensor(RNG.normal(size=(2, 3, 9))), torch.tensor(RNG.normal(size=(4, 3, 3)))
    report = sg.check(Windows.apply, "torch", x, w)
    assert report.ok, report
    assert report.method.startswith("the exact derivative")
    monkeypatch.setattr(Windows, "mistake", mistake)
    report = sg.check(Windows.apply, "torch", x, w)
    assert words in str(report.diagnosis), report
    assert report.arguments[0].title == "vjp of Windows by x"


def test_functions_and_methods_of_torch_have_formulas():
    def f(x, A):
        inside = torch.nn.functional.softmax(x, dim=-1) * torch.relu(x).to(torch.float64)
        return (
            torch.where(x > 0, inside, torch.zeros_like(x)).sum() + torch.linalg.slogdet(A)[1] + torch.special.erf(x[0])
        )

    x, A = torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64), torch.tensor(np.eye(3) + 0.1)
    report = sg.check(f, "torch", x, A)
    assert report.ok, report
    assert report.method.startswith("the exact derivative"), report
    assert "inv" in report["A"].formula


def test_custom_functions_inside_of_others_are_looked_through_and_torch_is_left_as_it_was():
    before, own = torch.autograd.Function.__dict__["apply"], vars(sg.Tensor).get("__torch_function__")
    x = torch.tensor(RNG.normal(size=(1, 3, 9)))
    w = torch.tensor(RNG.normal(size=(4, 3, 3)))
    report = sg.check(lambda x: (Windows.apply(x, w) ** 2).sum(), "torch", x)
    assert report.ok, report
    assert any("backward is not asked" in note for note in report.notes), report
    assert torch.autograd.Function.__dict__["apply"] is before
    assert vars(sg.Tensor).get("__torch_function__") is own


def test_arrays_that_torch_makes_on_the_way_are_followed():
    def f(s):
        n = s.shape[-1]
        s = s.masked_fill(torch.triu(torch.ones(n, n, dtype=torch.bool), 1), -1e9)
        out = torch.zeros(n, dtype=torch.float64)
        for k in range(n):
            out[k] = torch.logsumexp(s[k], -1) * torch.arange(n)[k]
        return out

    report = sg.check(f, "torch", torch.tensor(RNG.normal(size=(4, 4))))
    assert report.ok, report
    assert report.method.startswith("the exact derivative")


class Ranked(torch.autograd.Function):
    """Entries of the simplex nearest to a row, whose number is found by sorting."""

    @staticmethod
    def forward(ctx, x):
        ordered, _ = x.sort(dim=-1, descending=True)
        counts = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
        level = (ordered.cumsum(-1) - torch.ones(1, dtype=x.dtype)) / counts
        support = (ordered > level).sum(-1, keepdim=True)
        out = (x - level.gather(-1, support - 1)).clamp(min=0)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, g):
        inside = (ctx.saved_tensors[0] > 0).to(g.dtype)
        return inside * (g - (g * inside).sum(-1, keepdim=True) / inside.sum(-1, keepdim=True))


class Root(torch.autograd.Function):
    """The cube root by Newton's steps, in place."""

    @staticmethod
    def forward(ctx, x):
        root = 1 + x / 3
        for _ in range(30):
            root.sub_((root - x / root**2) / 3)
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, g):
        return g / (3 * ctx.saved_tensors[0] ** 2)


def test_arrays_of_the_dtype_and_the_device_of_an_argument_are_followed():
    before = torch.arange
    report = sg.check(Ranked.apply, "torch", torch.tensor([[0.5, -1.2, 0.3, 2.0], [0.1, 0.2, -0.3, 0.0]]).double())
    assert report.ok, report
    assert report.method.startswith("the exact derivative"), report
    assert torch.arange is before


def test_custom_functions_that_cannot_be_followed_are_measured_on_arrays_of_torch():
    report = sg.check(lambda x: Root.apply(x) ** 2, "torch", torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64))
    assert report.ok, report
    assert "differences" in report.method or "complex" in report.method, report
    assert any("calls Root, whose operations cannot be recorded" in note for note in report.notes), report


def test_what_has_no_counterpart_is_measured():
    def f(x):
        return torch.from_numpy(np.sinh(x.detach().numpy())).sum()

    x = torch.tensor([0.5, 1.0], dtype=torch.float64)
    report = sg.check(f, lambda x: torch.cosh(x), x)
    assert report.ok and "differences" in report.method or "complex" in report.method, report
