"""Functions under the names that programs of old call them by; torch has them, with a warning."""

from __future__ import annotations

import pytest

FORMER = [
    "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
    "kaiming_normal", "orthogonal", "sparse",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMER)
def test_initialisers(t, name):
    """They fill the tensor with the values that the function with a ``_`` gives, and return it."""
    shape, given = ((4, 2, 3) if name == "dirac" else (4, 3)), {"constant": (0.5,), "sparse": (0.3,)}.get(name, ())
    w = t.zeros(shape, requires_grad=True)
    t.manual_seed(0)
    with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."):
        assert getattr(t.nn.init, name)(w, *given) is w
    t.manual_seed(0)
    assert w.tolist() == getattr(t.nn.init, f"{name}_")(t.zeros(shape), *given).tolist()
    assert w.is_leaf


def test_clipping(t):
    w = t.tensor([3.0, 4.0], requires_grad=True)
    w.grad = t.tensor([3.0, 4.0])
    with pytest.warns(FutureWarning, match="`torch.nn.utils.clip_grad_norm` is now deprecated in favor of"):
        total = t.nn.utils.clip_grad_norm([w], 1.0)
    assert total.item() == 5.0
    assert w.grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)


def test_what_never_was(t):
    with pytest.raises(AttributeError, match="glorot"):
        _ = t.nn.init.glorot
    with pytest.raises(AttributeError, match="clip"):
        _ = t.nn.utils.clip


def test_half_precision_on_a_gpu_that_is_not_there(t):
    """Loops of the former torch.cuda.amp run as they are: nothing is narrow, no loss is scaled, and torch warns."""
    w = t.tensor([1.0, 2.0], requires_grad=True)

    class Descent:
        param_groups = [{"params": [w]}]

        def step(self):
            with t.no_grad():
                w.sub_(0.25 * w.grad)

    with pytest.warns(FutureWarning, match=r"`torch.cuda.amp.GradScaler\(args...\)` is deprecated"):
        scaler = t.cuda.amp.GradScaler(enabled=t.cuda.is_available())
    with (
        pytest.warns(FutureWarning, match=r"Please use `torch.amp.autocast\('cuda', args...\)` instead"),
        t.cuda.amp.autocast(enabled=t.cuda.is_available()),
    ):
        loss = (w.view(1, 2) @ w).sum()
    assert loss.dtype == t.float32
    scaler.scale(loss).backward()
    scaler.step(Descent())
    scaler.update()
    assert w.tolist() == [0.5, 1.0]


def test_former_decorators_of_custom_functions(t):
    with pytest.warns(FutureWarning, match="device_type='cuda'"):

        class Double(t.autograd.Function):
            @staticmethod
            @t.cuda.amp.custom_fwd
            def forward(ctx, x):
                return 2 * x

            @staticmethod
            @t.cuda.amp.custom_bwd
            def backward(ctx, g):
                return 2 * g

    x = t.tensor([1.0], requires_grad=True)
    Double.apply(x).backward()
    assert x.grad.item() == 2.0
