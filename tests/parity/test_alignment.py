"""ctc_loss against torch: batches of any lengths, empty targets, sequences of no steps, impossible alignments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_random_batches(seed: int, reduction: str, zero_infinity: bool) -> None:
    """The losses, and their gradients where they are finite."""
    rng = np.random.default_rng(seed)
    steps, batch, classes = rng.integers(1, 9), rng.integers(1, 4), rng.integers(2, 5)
    scores = rng.standard_normal((steps, batch, classes))
    times, counts = rng.integers(0, steps + 1, batch), rng.integers(0, 5, batch)
    labels = rng.integers(1, classes, (batch, max(1, counts.max())))

    def answer(t: Any) -> tuple[Any, Any]:
        x = t.tensor(scores, requires_grad=True)
        lengths = t.tensor(times), t.tensor(counts)
        options = {"reduction": reduction, "zero_infinity": zero_infinity}
        loss = t.nn.functional.ctc_loss(x.log_softmax(2), t.tensor(labels), *lengths, **options)
        return loss.detach().numpy(), t.autograd.grad(loss.sum(), x)[0].numpy()

    (ours, slopes), (theirs, wanted) = answer(sg), answer(torch)
    np.testing.assert_allclose(ours, theirs, 1e-10)
    if np.isfinite(theirs).all():
        np.testing.assert_allclose(slopes, wanted, 1e-9, 1e-11)


def test_the_gradient_by_the_logarithms_themselves():
    """It is the derivative, as differences confirm; torch adds exp(log_probs), which vanishes behind them."""
    logs = np.log(np.random.default_rng(0).dirichlet(np.ones(3), (4, 1)))
    t = sg.tensor(logs, requires_grad=True)
    labels, lengths = sg.tensor([[1, 2]]), (sg.tensor([4]), sg.tensor([2]))
    assert sg.autograd.gradcheck(lambda x: sg.nn.functional.ctc_loss(x, labels, *lengths, reduction="sum"), t)
    sg.nn.functional.ctc_loss(t, labels, *lengths, reduction="sum").backward()
    other = torch.tensor(logs, requires_grad=True)
    torch.nn.functional.ctc_loss(
        other, torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2]), reduction="sum"
    ).backward()
    np.testing.assert_allclose(other.grad.numpy() - t.grad.numpy(), np.exp(logs), rtol=1e-10)


def _of_two(x: Any) -> Any:
    targets = sg.tensor([[1, 2, 1], [3, 3, 0]])
    return sg.nn.functional.ctc_loss(sg.log_softmax(x, 2), targets, [6, 5], [3, 2], reduction="sum")


def test_derivatives_of_second_order_in_every_mode():
    """Differences, forward mode and batches confirm what the pass over all steps at once gives."""
    x = np.random.default_rng(0).standard_normal((6, 2, 4))
    assert sg.autograd.gradgradcheck(_of_two, sg.tensor(x, requires_grad=True))
    hessian = sg.func.hessian(_of_two)(sg.tensor(x)).numpy()
    np.testing.assert_allclose(hessian, sg.func.jacrev(sg.func.jacrev(_of_two))(sg.tensor(x)).numpy(), atol=1e-13)
    slopes = sg.func.vmap(sg.func.grad(_of_two))(sg.tensor(np.stack([x, 2 * x]))).numpy()
    np.testing.assert_allclose(slopes[1], sg.func.grad(_of_two)(sg.tensor(2 * x)).numpy(), atol=1e-14)


def test_formula_and_program_write_the_steps_out():
    """LaTeX of the loss was a ShapeError."""
    x = np.random.default_rng(0).standard_normal((4, 2, 4))
    f = lambda x: sg.nn.functional.ctc_loss(x, sg.tensor([[1, 2], [3, 0]]), [4, 3], [2, 1], reduction="sum")  # noqa: E731
    assert "logsumexp" in f(sg.tensor(x, name="x", requires_grad=True)).latex()
    np.testing.assert_allclose(sg.compile(f, x)(x), f(sg.tensor(x)).item(), rtol=1e-14)
