"""Sobol's sequence and layers that are fused with their normalization, beside torch's."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
pytest.importorskip("scipy")
pytestmark = pytest.mark.peer


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_points_are_torchs_for_every_seed(scramble, dimension, dtype):
    found = []
    for t in (sg, torch):
        engine = t.quasirandom.SobolEngine(dimension, scramble=scramble, seed=5)
        kind = getattr(t, dtype)
        row = [engine.draw(dtype=kind), engine.draw(6, dtype=kind), engine.fast_forward(5).draw_base2(2, dtype=kind)]
        row += [engine.reset().draw(9, dtype=kind), engine.draw(3, out=t.empty(0, dtype=kind))]
        engine = t.quasirandom.SobolEngine(dimension, scramble)
        engine.fast_forward(3)
        t.manual_seed(3)
        row += [t.quasirandom.SobolEngine(dimension, scramble).draw(5, dtype=kind)]
        found.append((row, engine.num_generated, repr(engine)))
    assert found[0][1:] == found[1][1:]
    for a, b in zip(found[0][0], found[1][0], strict=True):
        assert str(a.dtype) == str(b.dtype).removeprefix("torch.")
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_what_is_refused():
    for t in (sg, torch):
        for dimension in (0, 21202):
            with pytest.raises(ValueError, match="Supported range of dimensionality"):
                t.quasirandom.SobolEngine(dimension)
        engine = t.quasirandom.SobolEngine(1)
        engine.draw(3)
        with pytest.raises(ValueError, match="3 points have been previously generated"):
            engine.draw_base2(1)


def test_there_are_no_points_behind_the_last():
    engine = sg.quasirandom.SobolEngine(2)
    there = torch.quasirandom.SobolEngine(2).fast_forward(2**30 - 1).draw(1)
    assert engine.fast_forward(2**30 - 1).draw(1).tolist() == there.tolist()
    for n in (1, -1):
        with pytest.raises(ValueError, match=r"there are 2\*\*30 points"):
            engine.draw(n)


@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_fused_layers_train_what_the_layer_trains(bias, trains):
    found = []
    for t in (sg, torch):
        conv, norm = t.nn.Conv1d(2, 3, 1, bias=bias).eval(), t.nn.BatchNorm1d(3).eval()
        conv.weight.requires_grad_(trains)
        fused = t.nn.utils.fusion.fuse_conv_bn_eval(conv, norm)
        found.append((fused.weight.requires_grad, fused.bias.requires_grad))
        norm = t.nn.BatchNorm1d(3, track_running_stats=False).eval()
        with pytest.raises((AssertionError, ValueError), match="running_mean and bn.running_var must not be None"):
            t.nn.utils.fusion.fuse_conv_bn_eval(conv, norm)
    assert found[0] == found[1]


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["Conv2d", "ConvTranspose2d", "Linear"])
def test_fused_layers(kind, bias, affine):
    found = []
    for t in (sg, torch) if affine or kind != "Linear" else (sg, sg):  # for which torch multiplies None
        t.manual_seed(0)
        layer = t.nn.Linear(3, 4, bias=bias) if kind == "Linear" else getattr(t.nn, kind)(3, 4, 2, bias=bias)
        norm = (t.nn.BatchNorm1d if kind == "Linear" else t.nn.BatchNorm2d)(4, affine=affine)
        x = t.randn(5, 3) if kind == "Linear" else t.randn(5, 3, 4, 4)
        norm(layer(x) * 3 + 1)
        layer.eval(), norm.eval()
        if kind == "Linear":
            fused = t.nn.utils.fuse_linear_bn_eval(layer, norm)
        else:
            fused = t.nn.utils.fusion.fuse_conv_bn_eval(layer, norm, transpose=kind != "Conv2d")
        np.testing.assert_allclose(fused(x).detach().numpy(), norm(layer(x)).detach().numpy(), rtol=1e-4, atol=1e-5)
        assert isinstance(fused.weight, t.nn.Parameter)
        assert fused.weight.requires_grad
        found.append([fused.weight.detach().numpy(), fused.bias.detach().numpy()])
        norm.train()
        with pytest.raises((AssertionError, ValueError), match="Fusion only for eval"):
            t.nn.utils.fusion.fuse_conv_bn_eval(layer, norm)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
