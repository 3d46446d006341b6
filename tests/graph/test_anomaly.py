"""Anomaly mode: the first nan of backward names its operation, its line, its entry and its formula."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd import anomaly_mode, detect_anomaly, set_detect_anomaly

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")


def singular(x):
    return (x.sqrt() * 0).sum()


def test_error_names_everything():
    x = sg.tensor([1.0, 0.0], requires_grad=True, name="x")
    with detect_anomaly():
        y = singular(x)
        with (
            pytest.warns(UserWarning, match=r"Error detected in SqrtBackward0. Traceback of forward call") as seen,
            pytest.raises(RuntimeError) as caught,
        ):
            y.backward()
    text = str(caught.value)
    assert text.startswith("Function 'SqrtBackward0' returned nan values in its 0th output.")
    assert "by x (argument 0) is nan in 1 of 2 entries, first at [1]" in text
    assert "incoming gradient 0.0, output 0.0" in text
    assert "in singular: return (x.sqrt() * 0).sum()" in text
    assert "formula: g/(2*sqrt(x1))" in text
    assert "test_anomaly.py" in str(seen[0].message)


def test_nothing_is_checked_or_kept_outside():
    x = sg.tensor([1.0, 0.0], requires_grad=True)
    y = singular(x)
    y.backward()
    assert np.isnan(x.grad.numpy()).any()
    with detect_anomaly():
        z = singular(x)
        assert z._node.extra.trace is not None
    del z
    gc.collect()
    w = x.exp()
    assert w._node.extra is None


def test_graph_from_outside_of_the_mode():
    x = sg.tensor([0.0], requires_grad=True)
    y = singular(x)
    with (
        detect_anomaly(),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(RuntimeError, match="its line is not known"),
    ):
        y.backward()


def test_check_nan_false():
    x = sg.tensor([0.0], requires_grad=True)
    with detect_anomaly(check_nan=False):
        singular(x).backward()
    assert np.isnan(x.grad.numpy()).all()


def test_nan_in_the_second_derivative_names_what_induced_it():
    """Each generation has a warning of its own."""
    x = sg.tensor([0.0], requires_grad=True)
    with detect_anomaly():
        y = (x**1.5).sum()
        (g,) = sg.autograd.grad(y, x, create_graph=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="returned nan values"):
                (g * 0).sum().backward()
    first, second = (str(w.message) for w in told)
    assert first.startswith("Error detected in PowBackward0. Traceback of forward call that caused the error:\n")
    assert "Previous calculation was induced by PowBackward0. Traceback of forward call that induced" in second
    assert "y = (x**1.5).sum()" in second


def test_right_gradients_are_untouched():
    def gradients():
        x = sg.tensor([0.3, -1.2], requires_grad=True)
        y = sg.where(x > 0, x.abs().sqrt(), x * x).sum() + (x.exp() @ x.tanh())
        y.backward()
        return x.grad.tolist()

    plain = gradients()
    with detect_anomaly():
        assert gradients() == plain


def test_error_inside_of_a_custom_backward_gets_its_trace():
    class Broken(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("broken")

    with detect_anomaly():
        y = Broken.apply(sg.tensor([1.0], requires_grad=True))
        with (
            pytest.warns(UserWarning, match="Error detected in BrokenBackward"),
            pytest.raises(ValueError, match="broken"),
        ):
            y.sum().backward()


def test_switching_and_nesting():
    assert not anomaly_mode.is_anomaly_enabled()
    set_detect_anomaly(True)
    try:
        assert anomaly_mode.is_anomaly_enabled()
        with set_detect_anomaly(False):
            assert not anomaly_mode.is_anomaly_enabled()
        with detect_anomaly(check_nan=False):
            assert not anomaly_mode.is_anomaly_check_nan_enabled()
        assert anomaly_mode.is_anomaly_enabled()
        assert anomaly_mode.is_anomaly_check_nan_enabled()
    finally:
        set_detect_anomaly(False)
    assert not anomaly_mode.is_anomaly_enabled()


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_same_first_words_as_torch():
    torch = pytest.importorskip("torch")
    texts = []
    for lib in (torch, sg):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = lib.tensor([1.0, 0.0], requires_grad=True)
            with lib.autograd.detect_anomaly(), pytest.raises(RuntimeError) as caught:
                (x.sqrt() * 0).sum().backward()
        texts.append(str(caught.value))
    assert texts[1].startswith(texts[0])


def test_a_change_in_place_is_told_with_its_trace():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    with detect_anomaly():
        y = x + 1
        z = y**2
        y += 1
        with (
            pytest.warns(UserWarning, match=r"Error detected in PowBackward0[^$]*z = y\*\*2"),
            pytest.raises(RuntimeError, match="modified by an inplace operation"),
        ):
            z.sum().backward()
