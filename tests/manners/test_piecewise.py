"""Functions that are linear, or so by pieces: where torch's recorded gradients depend on the input, these do."""

from __future__ import annotations

import pytest

PIECEWISE = ["relu", "leaky_relu", "hardtanh", "relu6", "hardsigmoid", "softshrink", "hardshrink"]


@pytest.mark.parametrize("name", [*PIECEWISE, "threshold"])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_recorded_gradients_require_grad(t, name, dtype):
    """The slope is recorded as a function of the input, with derivative zero."""
    x = t.tensor([-7.0, -2.0, 0.25, 5.0], dtype=getattr(t, dtype), requires_grad=True)
    options = (0.0, 1.0) if name == "threshold" else ()
    y = getattr(t.nn.functional, name)(x, *options)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert g.requires_grad
    assert g.dtype == x.dtype
    if name != "hardsigmoid":  # whose second derivative torch does not have
        (second,) = t.autograd.grad(g.sum(), x, retain_graph=True)
        assert second.tolist() == [0.0] * 4
    y.sum().backward()
    assert x.grad.tolist() == g.tolist()


WINDOWS = {
    "avg_pool1d(x, 2)": (1, "SqueezeBackward1"),
    "avg_pool2d(x, 2)": (2, "AvgPool2DBackwardBackward0"),
    "avg_pool3d(x, 2)": (3, "AvgPool3DBackwardBackward0"),
    "max_pool1d(x, 2)": (1, "SqueezeBackward1"),
    "max_pool2d(x, 2)": (2, "MaxPool2DWithIndicesBackwardBackward0"),
    "max_pool3d(x, 2)": (3, "MaxPool3DWithIndicesBackwardBackward0"),
    "adaptive_avg_pool1d(x, 3)": (1, "SqueezeBackward1"),
    "adaptive_avg_pool2d(x, 3)": (2, "AdaptiveAvgPool2DBackwardBackward0"),
    "adaptive_max_pool1d(x, 3)": (1, "SqueezeBackward1"),
    "adaptive_max_pool3d(x, 3)": (3, "AdaptiveMaxPool3DBackwardBackward0"),
    "fractional_max_pool2d(x, 2, output_size=2)": (2, "FractionalMaxPool2DBackwardBackward0"),
    "interpolate(x, 2, mode='area')": (1, "SqueezeBackward1"),
    "pad(x, (1, 2), mode='reflect')": (1, "ReflectionPad1DBackwardBackward0"),
    "pad(x, (1, 2, 0, 1), mode='replicate')": (2, "ReplicationPad2DBackwardBackward0"),
}


@pytest.mark.parametrize("call", WINDOWS)
def test_recorded_gradients_of_windows_have_a_derivative_by_the_input(t, call):
    """It is zero, and a second pass gives these zeros."""
    axes, name = WINDOWS[call]
    x = t.linspace(-2, 2, 4**axes, dtype=t.float64).reshape(1, 1, *[4] * axes).requires_grad_()
    y = eval(f"f.{call}", {"f": t.nn.functional, "x": x})
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert g.requires_grad
    assert g.grad_fn.name() == name
    (second,) = t.autograd.grad((g * g).sum(), x)
    assert second.tolist() == t.zeros_like(x).tolist()


def test_recorded_gradients_that_are_constant_have_none(t):
    """What wraps around, or adds a border of a constant, is a matter of places alone."""
    x = t.ones(1, 1, 4, dtype=t.float64, requires_grad=True)
    for mode in ("circular", "constant"):
        (g,) = t.autograd.grad(t.nn.functional.pad(x, (1, 1), mode=mode).sum(), x, create_graph=True)
        assert not g.requires_grad


def test_recorded_gradients_of_losses_and_transforms_by_windows(t):
    """The derivative of a chosen entry, and that of a border of mirrored entries."""
    x = t.tensor([[-1.0, -2.0], [-0.5, -3.0]], dtype=t.float64, requires_grad=True)
    (g,) = t.autograd.grad(t.nn.functional.nll_loss(x, t.tensor([1, 0])), x, create_graph=True)
    assert g.grad_fn.name() == "NllLossBackwardBackward0"
    signal = t.arange(8, dtype=t.float64).requires_grad_()
    found = t.stft(signal, 4, window=t.ones(4, dtype=t.float64), return_complex=True)
    (g,) = t.autograd.grad(found.real.sum(), signal, create_graph=True)
    (second,) = t.autograd.grad(g.sum(), signal)
    assert second.tolist() == [0.0] * 8


@pytest.mark.parametrize("call", ["elu(x)", "elu(x, 2.0)", "celu(x, 2.0)", "selu(x)"])
def test_bent_at_zero(t, call):
    """The slope at 0 is the one from below, its own slope the one from above."""
    x = t.tensor([-1e-9, 0.0, 1e-9], dtype=t.float64, requires_grad=True)
    y = eval(f"f.{call}", {"f": t.nn.functional, "x": x})
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert g[1].item() == pytest.approx(g[0].item(), rel=1e-6)
    (second,) = t.autograd.grad(g.sum(), x)
    assert second[0].item() != 0
    assert second[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("values", [0.5, [0.5], [0.5, 0.5]])
def test_spread_of_equal_values(t, values):
    """The derivatives of all orders are 0 where there is no spread."""
    x = t.tensor(values, dtype=t.float64, requires_grad=True)
    total = x.std(dim=-1, unbiased=False).sum()
    for _ in range(4):
        (g,) = t.autograd.grad(total, x, create_graph=True)
        assert not g.detach().abs().sum()
        total = g.sin().sum()


@pytest.mark.parametrize("recorded", [False, True])
def test_sgn_of_reals_passes_nothing_on(t, recorded):
    """Its zeros are no numbers that an infinite slope could undo."""
    x = t.ones(2, requires_grad=True)
    (g,) = t.autograd.grad(t.asin(x).sgn().sum(), x, create_graph=recorded)
    assert (g + t.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("call", ["where(m, x, x * 2).sgn()", "where(m, x.sgn(), 3.0)", "masked_fill(x, m, 0.5).sgn()",
                                  "(x * 3).sgn()"])  # fmt: skip
def test_zeros_of_sgn_do_not_depend_on_the_cotangent(t, call):
    x = t.tensor([1.0, -2.0], requires_grad=True)
    out = eval("t." * (call[0] != "(") + call, {"t": t, "x": x, "m": t.tensor([True, False])})
    (g,) = t.autograd.grad((out**3).sum(), x, create_graph=True)
    assert not g.requires_grad


def test_sgn_of_complex_numbers_passes_on_to_others(t):
    """Its cotangent goes through the slope of what stands before it."""
    x = t.tensor([1 + 1j, 2], requires_grad=True, dtype=t.complex128)
    z = t.asin(x).sgn()
    (z.real + 2 * z.imag).sum().backward()
    expected = t.tensor([-0.05092086 + 0.10373533j, -0.19213018 - 0.16111596j], dtype=t.complex128)
    assert t.allclose(x.grad, expected, atol=1e-3)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("lead", [(2,), (2, 2)])
def test_the_average_over_the_whole_picture_is_a_mean(t, axes, lead):
    """One cell has the node and the derivative of a mean: it depends on nothing."""
    x = t.linspace(-2, 2, 4 ** len(lead) * 3**axes, dtype=t.float64)[: 2 ** len(lead) * 3**axes]
    x = x.reshape(*lead, *[3] * axes).requires_grad_()
    pool = getattr(t.nn.functional, f"adaptive_avg_pool{axes}d")
    y = pool(x, 1)
    assert y.shape == (*lead, *[1] * axes)
    assert y.grad_fn.name() == ("SqueezeBackward1" if axes == 1 else "MeanBackward1")
    node = y.grad_fn.next_functions[0][0] if axes == 1 else y.grad_fn
    assert node.name() == "MeanBackward1"
    assert t.allclose(y.flatten(), x.flatten(len(lead)).mean(-1).flatten())
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert not g.requires_grad
    assert t.allclose(g, t.full_like(x, 3.0**-axes))
    assert pool(x, 2).grad_fn.name() != "MeanBackward1"
