"""``sg.explain``: each reason for a gradient that is None, nan, infinite, zero, huge or tiny, and what is said."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError


def leaf(values):
    return sg.tensor(np.asarray(values, float), requires_grad=True)


# ------------------------------------------------------------------------------------------ who is to blame


def relu_dead(x):
    return sg.relu(x - 5).sum()


def clamped(x):
    return (sg.clamp(x, 10, 20) ** 2).sum()


def loser(x):
    return sg.exp(x).max()


def loser_of_two(x):
    return sg.maximum(x, sg.tensor([9.0, 9.0, 9.0])).sum()


def other_branch(x):
    return sg.where(x > 100, x * 2, sg.zeros(3)).sum()


def masked(x):
    mask = sg.tensor([0.0, 1.0, 0.0])
    return (sg.sin(x) * mask).sum()


def zero_matrix(x):
    return (sg.zeros(2, 3, dtype=sg.float64) @ x).sum()


def not_read(x):
    return (x * 3)[1]


def underflow(x):
    return sg.exp(-800 * x).sum()


def saturated(x):
    return sg.sigmoid(60 * x).sum()


def saturated_tanh(x):
    return sg.tanh(40 * x).sum()


def zero_power(x):
    return ((x - x.detach()) ** 2).sum()


def cancelled(x):
    return (sg.sin(x) - sg.sin(x)).sum()


def rounded(x):
    return sg.round(x * 2).sum()


def floored(x):
    return (sg.floor(x) * x.detach()).sum()


def signed(x):
    return sg.sign(x - 1.5).sum()


def divided(x):
    return (1 / (x - 1.9999999999)).sum()


def grown(x):
    return sg.exp(30 * x).sum()


def steep_tan(x):
    return sg.tan(x * (np.pi / 2 - 1e-8)).sum()


def weighted(x):
    return (x * 1e9).sum()


def powered(x):
    return (x**40).sum()


def averaged(x):
    return sg.sin(x).sum() * 1e-9


def vanishing(x):
    h = x
    for _ in range(30):
        h = sg.sigmoid(h)
    return h.sum()


def exploding(x):
    h = x
    for _ in range(60):
        h = h * 2.5
    return h.sum()


def root_of_zero(x):
    return sg.sqrt((x - x.detach()) ** 2).sum()


def log_of_zero(x):
    return (sg.log(x - x.detach()) * 0).sum()


def divided_by_zero(x):
    return (x / (x - x.detach())).sum()


def overflowing(x):
    return sg.exp(800 * x).sum()


def root_alone(x):
    return sg.sqrt(x - x.detach()).sum()


def gathered(x):
    return (x[sg.tensor([0, 0, 1])] * 2).sum()


BLAMED = [
    (relu_dead, "zero", "flat", "relu"),
    (clamped, "zero", "flat", "clamp"),
    (loser, "zero", "not chosen", "amax"),
    (loser_of_two, "zero", "flat", "maximum"),
    (other_branch, "zero", "branch not taken", "where"),
    (masked, "zero", "multiplied by zero", "mul"),
    (zero_matrix, "zero", "multiplied by zero", "matmul"),
    (not_read, "zero", "not selected", "getitem"),
    (underflow, "zero", "underflow", "exp"),
    (saturated, "zero", "saturated", "sigmoid"),
    (saturated_tanh, "zero", "saturated", "tanh"),
    (zero_power, "zero", "flat", "pow"),
    (cancelled, "zero", "cancels", "sin"),
    (rounded, "zero", "step function", "round"),
    (floored, "zero", "step function", "floor"),
    (signed, "zero", "step function", "sign"),
    (divided, "huge", "large factor", "scaled_reciprocal"),
    (grown, "huge", "large factor", "exp"),
    (steep_tan, "huge", "large factor", "tan"),
    (weighted, "huge", "large factor", "mul"),
    (powered, "huge", "large factor", "pow"),
    (averaged, "tiny", "small factor", "mul"),
    (vanishing, "tiny", "vanishing chain", "sigmoid"),
    (exploding, "huge", "exploding chain", "mul"),
    (root_of_zero, "zero", "singular point", "sqrt"),
    (log_of_zero, "nan", "singular point", "log"),
    (divided_by_zero, "nan", "singular point", "div"),
    (overflowing, "infinite", "overflow", "exp"),
    (root_alone, "infinite", "singular point", "sqrt"),
    (gathered, "zero", "not selected", "getitem"),
]


@pytest.mark.parametrize(("program", "kind", "why", "op"), BLAMED, ids=[row[0].__name__ for row in BLAMED])
def test_the_operation_to_blame(program, kind, why, op):
    """Asked with the program, and after backward alone: the same kind, reason and operation; the program has lines."""
    x = leaf([1.0, 2.0, 3.0])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = sg.explain(x, lambda: program(x))
        program(x).backward()
    assert (found.kind, found.cause.kind, found.cause.op) == (kind, why, op), found
    assert found.cause.line.startswith("test_explain.py:")
    assert found.cause.node.startswith(("NotImpl", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    assert found.cause.advice
    alone = sg.explain(x.grad)
    assert (alone.kind, alone.cause.kind, alone.cause.op, alone.cause.index) == (
        kind,
        why,
        op,
        found.cause.index,
    ), alone


def test_entries_values_and_counts():
    x = leaf([-1.0, 2.0, -3.0, 4.0])
    found = sg.explain(x, lambda: sg.relu(x).sum())
    assert found.summary == "x.grad is zero in 2 of 4 entries, first at [0]."
    assert (found.cause.index, found.cause.value, found.cause.factor) == ((0,), -1.0, 0.0)
    assert "x = -1" in found.cause.text
    assert "2 of its 4 entries" in found.cause.text
    assert sg.explain(x, lambda: sg.relu(x).sum(), index=1).kind == "ordinary"
    assert sg.explain(x, lambda: sg.relu(x).sum(), index=2).cause.value == -3.0


def test_all_causes_are_told_where_there_are_several():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    found = sg.explain(x, lambda: sg.relu(x[:2] - 5).sum() + sg.round(x[2:]).sum())
    assert {cause.op for cause in found.causes} >= {"relu", "round"}


def test_the_exact_derivative_of_what_is_rounded_to_zero():
    x = leaf([-800.0])
    found = sg.explain(x, lambda: sg.exp(x).sum())
    assert found.cause.kind == "underflow"
    assert "3.67e-348" in found.cause.text


def test_an_ill_conditioned_inverse_has_its_condition_number():
    matrix = leaf([[1.0, 2.0], [1.0, 2.0 + 1e-9]])
    b = sg.tensor([1.0, 5.0])
    found = sg.explain(matrix, lambda: (sg.linalg.inv(matrix) @ b.double()).sum())
    assert (found.kind, found.cause.kind, found.cause.op) == ("huge", "ill-conditioned", "inv")
    assert "condition number" in found.cause.text


def test_a_gradient_that_outgrows_its_dtype():
    x = sg.tensor(1.0, requires_grad=True)
    with np.errstate(all="ignore"):
        h = x * 1e-30
        for _ in range(100):
            h = h * 4.0
        h.backward()
    found = sg.explain(x.grad)
    assert found.kind == "infinite"
    assert found.cause.kind == "overflow"
    assert found.cause.op == "mul"
    assert "float32" in found.cause.text


def test_given_gradients_that_are_zero_or_small():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.backward(sg.tensor([0.0, 1.0]).double())
    assert sg.explain(x.grad).cause.kind == "given"
    x.grad = None
    (x * 1.0).sum().backward(sg.tensor(1e-9).double())
    assert sg.explain(x.grad).cause.kind == "given"


def test_accumulated_passes_are_explained_together():
    x = leaf([-1.0, 2.0])
    sg.relu(x).sum().backward()
    sg.clamp(x, 5, 6).sum().backward()
    found = sg.explain(x.grad)
    assert found.kind == "zero"
    assert {cause.op for cause in found.causes} == {"relu", "clamp"}


# ------------------------------------------------------------------------------------------ None


def no_grad_inside(x):
    with sg.no_grad():
        h = x * 2
    return (h * leaf([1.0, 2.0])).sum()


NONE = [
    (lambda x: (x.detach() * leaf([1.0, 2.0])).sum(), "detached", "detach"),
    (lambda x: (x.data * leaf([1.0, 2.0])).sum(), "detached", "detach"),
    (lambda x: ((x * 2).detach() * leaf([1.0, 2.0])).sum(), "detached", "detach"),
    (no_grad_inside, "no_grad", "mul"),
    (lambda x: (x.long() * leaf([1.0, 2.0])).sum(), "integer", "cast"),
    (lambda x: ((x > 1.5) * leaf([1.0, 2.0])).sum(), "integer", "gt"),
    (lambda x: x.argmax() * leaf(2.0), "integer", "argmax"),
    (lambda x: x[0].item() * leaf(2.0), "taken out", None),
    (lambda x: sg.tensor(x.tolist()).double() * leaf(2.0), "taken out", None),
    (lambda x: leaf([1.0, 2.0]).sum(), "no path", None),
    (lambda x: float(x.sum()), "taken out", None),
]


@pytest.mark.parametrize(("program", "kind", "op"), NONE, ids=[f"{k}-{row[1]}" for k, row in enumerate(NONE)])
def test_no_gradient_though_it_was_asked_for(program, kind, op):
    x = leaf([1.0, 2.0])
    found = sg.explain(x, lambda: program(x))
    assert (found.kind, found.cause.kind, found.cause.op) == ("None", kind, op), found
    assert kind == "no path" or "test_explain.py:" in found.cause.line
    assert x.grad is None


def test_the_line_of_a_detach():
    x = leaf([1.0, 2.0])

    def program():
        h = x * 3
        h = h.detach()
        return (h * leaf([1.0, 2.0])).sum()

    assert "h = h.detach()" in sg.explain(x, program).cause.line
    assert ".detach()" in sg.explain(x, program).cause.text
    y = x.detach()
    loss = (y * leaf([1.0, 2.0])).sum()  # of a loss that is there its graph still knows what shares memory
    found = sg.explain(x, loss)
    assert found.cause.kind == "detached"
    assert "y = x.detach()" in found.cause.line


def test_a_loss_without_a_path_asks_for_the_program():
    x = leaf([1.0, 2.0])
    found = sg.explain(x, no_grad_inside(x))
    assert found.cause.kind == "no path"
    assert "lambda" in found.cause.advice


def test_tensors_that_get_no_gradient():
    q = sg.tensor([1.0, 2.0])
    assert sg.explain(q).cause.kind == "requires_grad"
    assert sg.explain(q, lambda: q.sum()).cause.kind == "requires_grad"
    assert sg.explain(sg.tensor([1, 2])).cause.kind == "integer"
    x = leaf([1.0, 2.0])
    h = x * 2
    assert sg.explain(h).cause.kind == "not a leaf"
    assert "retain_grad" in sg.explain(h).cause.advice
    assert sg.explain(x).cause.kind == "no backward"


def test_a_gradient_that_is_none_is_found_by_the_text_of_the_call():
    x = leaf([1.0, 2.0])
    found = sg.explain(x.grad)
    assert found.cause.kind == "no backward"
    assert found.of == "x.grad"

    class Model:
        def __init__(self):
            self.w = sg.tensor([1.0])

    model = Model()
    assert sg.explain(model.w.grad).cause.kind == "requires_grad"
    nothing = None
    with pytest.raises(ArgumentError, match="explain\\(x\\)"):
        sg.explain(nothing)


def test_a_gradient_that_was_changed_since():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    x.grad.zero_()
    assert sg.explain(x).cause.kind == "changed"
    x.grad = None
    (x * x).sum().backward()
    with sg.no_grad():
        x -= 0.1 * x.grad
    with pytest.raises(AutogradError, match="was changed after it was used"):
        sg.explain(x.grad)


def test_a_hook_that_changes_the_gradient_is_named():
    x = leaf([1.0, 2.0])
    h = x * 2
    h.register_hook(lambda g: g * 0)
    h.sum().backward()
    assert sg.explain(x.grad).cause.kind == "hook"


# ------------------------------------------------------------------------------------------ forms


def test_texts_html_and_json():
    x = leaf([-1.0, 2.0])
    found = sg.explain(x, lambda: sg.relu(x).sum())
    assert str(found) == repr(found)
    assert found.cause.text in str(found)
    assert "→" in str(found)
    assert "<li>" in found._repr_html_()
    assert "relu(x)" in found._repr_html_()
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["kind"] == "zero"
    assert again["causes"][0]["op"] == "relu"
    assert again["causes"][0]["index"] == [0]
    ordinary = sg.explain(x, lambda: (x * x).sum())
    assert ordinary.kind == "ordinary"
    assert ordinary.cause is None
    assert "2 to 4" in str(ordinary)
    z = leaf([0.0])
    with np.errstate(all="ignore"):
        json.dumps(sg.explain(z, lambda: sg.sqrt(z).sum()).to_dict(), allow_nan=False)


def test_explain_leaves_gradients_alone():
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    before = x.grad.numpy().copy()
    sg.explain(x, lambda: (x * 0).sum())
    sg.explain(x.grad)
    assert np.array_equal(x.grad.numpy(), before)


def test_wrong_arguments():
    x = leaf([1.0])
    with pytest.raises(ArgumentError, match="a tensor or its gradient"):
        sg.explain(3.0)
    with pytest.raises(ArgumentError, match="a tensor or a function"):
        sg.explain(x, 3.0)


def test_convolutions_and_other_folded_functions():
    x = leaf(np.ones((1, 1, 5)))
    w = leaf(np.zeros((1, 1, 3)))
    sg.nn.functional.conv1d(x, w).sum().backward()
    found = sg.explain(x.grad)
    assert found.kind == "zero"
    assert found.cause.kind == "multiplied by zero"


def test_deep_graphs_and_large_arrays():
    x = leaf(np.linspace(-1, 1, 1000))
    h = x
    for _ in range(1000):
        h = sg.relu(h) * 1.0
    h.sum().backward()
    found = sg.explain(x.grad)
    assert found.cause.op == "relu"
    assert found.summary == "x.grad is zero in 500 of 1000 entries, first at [0]."


class Stopped(sg.autograd.Function):
    """The identity, whose backward forgets."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 0


def test_custom_functions():
    x = leaf([1.0, 2.0])
    found = sg.explain(x, lambda: Stopped.apply(x).sum())
    assert (found.cause.kind, found.cause.op) == ("custom function", "Stopped")
    found = sg.explain(x, lambda: (Stopped.apply(sg.relu(x - 5))).sum())
    assert {"relu", "Stopped"} <= {cause.op for cause in found.causes} | {"relu"}
    found = sg.explain(x, lambda: sg.round(Stopped.apply(x)).sum())
    assert found.cause.op == "round"
    loss = Stopped.apply(x).sum()
    loss.backward()
    with pytest.raises(AutogradError, match="cannot be run again"):
        sg.explain(x.grad)


WORSE = [
    (lambda x: (sg.relu(x.reshape(1, 3)) @ sg.zeros(3, 1).double()).sum(), "multiplied by zero", "matmul"),
    (lambda x: sg.softmax(1000 * x, dim=0)[0], "saturated", "softmax"),
    (lambda x: (x * 0).sum(), "multiplied by zero", "mul"),
    (lambda x: (x * x.detach() * 1e-200 * 1e-200).sum(), "underflow", "mul"),
    (lambda x: ((x - 2) * 0 + (x[:1] * 0)).sum(), "multiplied by zero", "mul"),
    (lambda x: sg.nn.functional.embedding(sg.tensor([1]), x.reshape(3, 1)).sum(), "not selected", "getitem"),
    (lambda x: sg.imag(x.to(sg.complex128)).sum(), "imaginary", "cast"),
    (lambda x: ((x - 1) * (x - 2) * (x - 3)).prod(), "zero derivative", "prod"),
    (lambda x: abs(x - x.detach()).sum(), "kink", "abs"),
    (lambda x: sg.relu(x - x.detach()).sum(), "kink", "relu"),
    (lambda x: sg.atan2(x - x.detach(), sg.zeros(3)).sum(), "kink", "atan2"),
    (lambda x: (x - x.detach()).norm(), "kink", "norm"),
    (lambda x: (x - x.detach()).std(), "kink", "std"),
]


@pytest.mark.parametrize(("program", "why", "op"), WORSE, ids=[f"{k}-{row[2]}" for k, row in enumerate(WORSE)])
def test_what_looks_alike_is_told_apart(program, why, op):
    x = leaf([1.0, 2.0, 3.0])
    found = sg.explain(x, lambda: program(x))
    assert (found.kind, found.cause.kind, found.cause.op) == ("zero", why, op), found


def test_a_kink_is_told_with_its_place():
    x = leaf([0.0, 1.0])
    assert "Abs(x) has no derivative at [0], where x = 0: it has a kink there" in str(
        sg.explain(x, lambda: abs(x).sum())
    )
    with sg.conventions(abs="jax"):  # which takes 1
        assert sg.explain(x, lambda: abs(x).sum()).kind == "ordinary"


def test_equal_eigenvalues_are_to_blame():
    A = sg.tensor(2 * np.eye(2), requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the answer says it
        found = sg.explain(A, lambda: sg.linalg.eigh(A)[1].abs().sum())
    assert (found.kind, found.cause.op) == ("nan", "eigh_vectors")
    assert "eigenvalues 0 and 1 differ by 0" in found.cause.text
    assert found.cause.advice.startswith("Use a function that does not depend on the choice of vectors")


def test_a_product_with_zero_is_not_spelled_as_its_result():
    x = leaf([1.0, 2.0])
    assert "In mul() the gradient is multiplied by 0" in sg.explain(x, lambda: sg.tanh(x * 0).sum()).cause.text


def test_the_factor_that_stops_everything_comes_first():
    """Weights of zero behind a relu that is flat here and there: the weights are to blame."""
    rng = np.random.default_rng(0)
    data, weights = sg.tensor(rng.normal(size=(20, 5))), leaf(rng.normal(size=(5, 8)))
    last = sg.tensor(np.zeros((8, 1)), requires_grad=True)
    found = sg.explain(weights, lambda: (sg.relu(data @ weights) @ last).mean())
    assert [cause.op for cause in found.causes] == ["matmul", "relu"]
    assert "last" in found.cause.text


def test_entries_that_are_written_over():
    x = leaf([1.0, 2.0])

    def program():
        h = x * 1
        h[0] = 0.0
        return h.sum()

    found = sg.explain(x, program)
    assert found.cause.kind == "not selected"
    assert "written over" in found.cause.advice


def test_what_rounding_left_is_no_gradient():
    x = leaf([3.0, 1.0, 2.0])
    found = sg.explain(x, lambda: sg.softmax(x, dim=0).sum())
    assert (found.kind, found.cause.kind) == ("tiny", "cancels")
    x = leaf([0.3, 0.1, 0.7])  # nothing is left
    found = sg.explain(x, lambda: sg.softmax(x, dim=0).sum())
    assert (found.kind, found.cause.kind) == ("zero", "zero derivative")
    x = leaf([1000.0, 0.0])  # 5e-435, and no rounding
    assert sg.explain(x, lambda: sg.softmax(x, dim=0)[0]).cause.kind == "saturated"
    x = leaf([3.0, 1.0, 2.0])
    found = sg.explain(x, lambda: (sg.sin(x) * 3 - sg.sin(x) * 3).sum())
    assert (found.kind, found.cause.kind) == ("zero", "cancels")


def test_graphs_that_would_fill_the_memory_are_refused(monkeypatch):
    from symgrad.explaining import replay

    t = sg.tensor(np.full(1000, 0.3), requires_grad=True)
    y = t
    for _ in range(50):
        y = sg.sin(y)
    y.sum().backward()
    assert sg.explain(t.grad)
    monkeypatch.setattr(replay, "MOST_BYTES", 100_000)
    with pytest.raises(sg.errors.AutogradError, match=r"for 51 operations, and at most 0.0001 GB are taken"):
        sg.explain(t.grad)
