"""``nn.utils``: norms and clipping, parameters as one vector, sequences of many lengths; torch gives the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")


def parameters(t):
    rng = np.random.default_rng(0)
    made = [t.tensor(rng.standard_normal(shape), dtype=t.float32, requires_grad=True) for shape in ((2, 3), (3,), ())]
    loss = 10 * ((made[0] * made[1]).sum() ** 2)
    loss.backward()  # the last has no gradient
    return made


CALLS = {
    "norm": lambda t, ps: t.nn.utils.clip_grad_norm_(ps, 1.0),
    "norm of a generator": lambda t, ps: t.nn.utils.clip_grad_norm_((p for p in ps), max_norm=0.5, norm_type=1),
    "largest": lambda t, ps: t.nn.utils.clip_grad_norm_(ps, 2.0, norm_type=float("inf")),
    "one": lambda t, ps: t.nn.utils.clip_grad_norm_(ps[0], 1e6),
    "none": lambda t, ps: t.nn.utils.clip_grad_norm_([ps[2]], 1.0),
    "total": lambda t, ps: t.nn.utils.get_total_norm([p.grad for p in ps[:2]]),
    "value": lambda t, ps: t.nn.utils.clip_grad_value_(ps, 0.25),
    "vector": lambda t, ps: t.nn.utils.parameters_to_vector(ps),
    "back": lambda t, ps: t.nn.utils.vector_to_parameters(t.nn.utils.parameters_to_vector(ps) * 2, ps),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers(name):
    rows = []
    for t in (sg, torch):
        ps = parameters(t)
        found = CALLS[name](t, ps)
        rows.append([None if x is None else x.detach().numpy() for x in (found, *ps, *(p.grad for p in ps))])
        assert all(p.is_leaf and p.requires_grad for p in ps)
    for ours, theirs in zip(*rows, strict=True):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
            assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("t", [sg, torch], ids=lambda t: t.__name__)
def test_norms_that_are_no_numbers(t):
    w = t.tensor([1.0], requires_grad=True)
    (w * float("inf")).sum().backward()
    with pytest.raises(RuntimeError, match="The total norm of order 2.0 for gradients from `parameters` is non-finite"):
        t.nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)


def test_the_vector_is_differentiable():
    ps = parameters(sg)
    vector = sg.nn.utils.parameters_to_vector(ps)
    assert vector.grad_fn.name() == "CatBackward0"


LENGTHS = {
    "three": lambda t: [t.arange(6.0).reshape(3, 2), t.ones(1, 2), t.full((2, 2), 3.0)],
    "of one axis": lambda t: [t.tensor([1.0, 2.0]), t.tensor([3.0])],
    "equal": lambda t: [t.ones(2, 3), t.zeros(2, 3)],
    "one": lambda t: [t.ones(2, 3)],
    "one that is empty": lambda t: [t.ones(2, 3), t.ones(0, 3)],
    "rows of a tensor": lambda t: t.arange(6.0).reshape(3, 2),
    "dtypes": lambda t: [t.ones(2, dtype=t.float64), t.ones(3)],
    "whole numbers": lambda t: [t.tensor([1, 2]), t.tensor([3])],
    "complex": lambda t: [t.ones(1, 2, dtype=t.complex64), t.ones(2, 2, dtype=t.complex64)],
    "axes that stretch": lambda t: [t.ones(2, 3), t.full((1, 1), 5.0)],
}


@pytest.mark.parametrize("options", [{}, {"batch_first": True}, {"padding_value": 1.5}, {"padding_side": "left"}])
@pytest.mark.parametrize("name", LENGTHS)
def test_sequences_of_many_lengths(name, options):
    def padded(t):
        rows = LENGTHS[name](t)
        rows = [row.requires_grad_("int" not in str(row.dtype)) for row in rows] if isinstance(rows, list) else rows
        out = t.nn.utils.rnn.pad_sequence(rows, **options)
        slopes = []
        if out.requires_grad:
            weights = t.arange(1.0, out.numel() + 1).reshape(out.shape)
            slopes = [g.tolist() for g in t.autograd.grad((out * weights).square().abs().sum(), rows)]
        return out.tolist(), tuple(out.shape), str(out.dtype).split(".")[-1], slopes

    assert padded(sg) == padded(torch)


def test_sequences_are_taken_apart():
    rows = [sg.arange(6.0).reshape(3, 2), sg.ones(1, 2)]
    padded = sg.nn.utils.rnn.pad_sequence(rows)
    for lengths in ([3, 1], sg.tensor([3, 1])):
        back = sg.nn.utils.rnn.unpad_sequence(padded, lengths)
        assert [a.tolist() for a in back] == [a.tolist() for a in rows]
    with pytest.raises(sg.errors.ShapeError, match="1 lengths for 2"):
        sg.nn.utils.rnn.unpad_sequence(padded, [3])


MISUSES = {
    "none": lambda p, t: p([]),
    "a number": lambda p, t: p(3),
    "a list of numbers": lambda p, t: p([1.0]),
    "a side": lambda p, t: p([t.ones(2)], padding_side="up"),
    "no axis": lambda p, t: p([t.tensor(1.0)]),
    "other axes behind": lambda p, t: p([t.ones(3, 2), t.ones(2, 3)]),
}


@pytest.mark.parametrize("name", MISUSES)
def test_what_is_no_sequence(name):
    for t in (torch, sg):
        with pytest.raises((RuntimeError, TypeError)):
            MISUSES[name](t.nn.utils.rnn.pad_sequence, t)


MADE_OF_PARAMETERS = [
    "t.nn.functional.conv1d(t.ones(1, 1, 5), p[None, None])", "t.nn.functional.conv2d(t.ones(1, 3, 2, 2), k, p)",
    "t.nn.functional.conv_transpose2d(t.ones(1, 3, 2, 2), k)", "t.nn.functional.linear(t.ones(2, 1), q, p)",
    "t.nn.functional.batch_norm(t.ones(2, 3), None, None, p, p, True)",
    "t.nn.functional.layer_norm(t.ones(2, 3), (3,), p, p)", "t.nn.functional.group_norm(t.ones(2, 3), 1, p, p)",
    "t.nn.functional.cosine_similarity(p, p, 0)", "p.new_tensor([1.0])", "p.new(2)", "p.new([1.0])",
    "p.new_full((2,), 1.0)", "p.detach()", "p * 1", "p[0]",
]  # fmt: skip


@pytest.mark.parametrize("t", [sg, torch], ids=lambda t: t.__name__)
@pytest.mark.parametrize("call", MADE_OF_PARAMETERS)
def test_what_is_computed_of_parameters_is_none(t, call):
    p, q = t.nn.Parameter(t.ones(3)), t.nn.Parameter(t.ones(3, 1))
    k = t.nn.Parameter(t.ones(3, 3, 1, 1))
    assert type(eval(call, {"t": t, "p": p, "q": q, "k": k})) is t.Tensor  # noqa: S307
