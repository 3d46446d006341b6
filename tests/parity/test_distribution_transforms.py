"""Transforms of distributions onto matrices and of parts, and their constraints, beside torch's."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
pytestmark = pytest.mark.peer

SQUARE = [[[0.3, 9.0], [-1.2, 0.7]], [[1.1, 9.0], [0.4, -0.6]]]
ROWS = [[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]]
TRANSFORMS = {
    "correlations": (lambda D, t: D.CorrCholeskyTransform(), ROWS),
    "one correlation": (lambda D, t: D.CorrCholeskyTransform(), [[0.4]]),
    "Cholesky factors": (lambda D, t: D.LowerCholeskyTransform(), SQUARE),
    "positive definite": (lambda D, t: D.PositiveDefiniteTransform(), SQUARE),
    "parts": (lambda D, t: D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [1, 2]), ROWS),
    "parts of the batch": (lambda D, t: D.CatTransform([D.ExpTransform(), D.identity_transform], 0), ROWS),
    "parts of events": (
        lambda D, t: D.CatTransform([D.IndependentTransform(D.ExpTransform(), 1), D.TanhTransform()], -1, [2, 1]), ROWS
    ),
    "rows": (lambda D, t: D.StackTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], 0), ROWS),
    "columns": (lambda D, t: D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.identity_transform], -1), ROWS),
    "probabilities": (lambda D, t: D.CumulativeDistributionTransform(D.Normal(t.tensor(0.5).double(), 2.0)), ROWS),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    make, values = TRANSFORMS[name]
    found = []
    for t in (torch, sg):
        T = importlib.import_module(f"{t.__name__}.distributions")
        made, x = make(T, t), t.tensor(values, dtype=t.float64, requires_grad=True)
        y = made(x)
        row = [y, made.inv(y), t.autograd.grad((y * y.detach().cos()).sum(), x, retain_graph=True)[0]]
        try:
            logs = made.log_abs_det_jacobian(x, y)
            row += [logs, t.autograd.grad(logs.sum(), x)[0]]
        except NotImplementedError:
            row.append(None)
        row += [tuple(made.forward_shape(x.shape)), tuple(made.inverse_shape(y.shape)), made.bijective]
        row += [
            None if name == "parts of events" else made.codomain.check(y.detach()),
            made.codomain.event_dim,
            made.domain.event_dim,
            made.with_cache()(x),
        ]
        found.append(row)
    for a, b in zip(*found, strict=True):
        if hasattr(a, "detach"):
            np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-9, atol=1e-12)
        else:
            assert a == b


def test_every_transform_may_have_a_cache():
    for t in (torch, sg):
        D = importlib.import_module(f"{t.__name__}.distributions")
        whole = D.ComposeTransform([D.ReshapeTransform((4,), (2, 2)), D.TanhTransform()], cache_size=1)
        x = t.full((4,), 30.0)
        assert whole.inv(whole(x)) is x


def test_functions_onto_what_satisfies_a_constraint():
    x = [0.5, -1.0, 0.3]
    for how in ("biject_to", "transform_to"):
        for name in ("real", "positive", "nonnegative", "unit_interval", "simplex", "real_vector", "interval"):
            found = []
            for t in (torch, sg):
                D = importlib.import_module(f"{t.__name__}.distributions")
                constraint = D.constraints.interval(-1.0, 3.0) if name == "interval" else getattr(D.constraints, name)
                made = getattr(D, how)(constraint)
                y = made(t.tensor(x, dtype=t.float64))
                found.append([y.tolist(), made.inv(y).tolist()])
            np.testing.assert_allclose(np.hstack(found[1]), np.hstack(found[0]), rtol=1e-12)
    with pytest.raises(NotImplementedError):
        sg.distributions.biject_to(sg.distributions.constraints.boolean)


def test_constraints_have_their_transforms():
    x = [[0.3, -1.2, 0.7], [1.1, 0.4, -0.6], [0.2, 0.1, 0.5]]
    for how in ("biject_to", "transform_to"):
        for name in ("corr_cholesky", "lower_cholesky", "positive_definite", "positive_semidefinite", "cat", "stack"):
            found = []
            for t in (torch, sg):
                D = importlib.import_module(f"{t.__name__}.distributions")
                constraint = getattr(D.constraints, name)
                if isinstance(constraint, type):
                    constraint = constraint(
                        [D.constraints.positive, D.constraints.real, D.constraints.unit_interval], -1
                    )
                try:
                    y = getattr(D, how)(constraint)(t.tensor(x, dtype=t.float64))
                except NotImplementedError:
                    found.append(None)
                    continue
                assert bool(constraint.check(y).all())
                assert not bool(constraint.check(-y - 3).all())
                found.append(y.numpy())
            assert (found[0] is None) == (found[1] is None), (how, name)
            if found[0] is not None:
                np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_constraints_of_matrices():
    cases = [
        np.eye(2),
        -np.eye(2),
        [[1.0, 2.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.6, 0.8]],
        np.ones((2, 2)),
        np.ones((2, 3)),
    ]
    cases.append(np.stack([np.eye(2), np.ones((2, 2))]))
    for name in (
        "square",
        "symmetric",
        "positive_semidefinite",
        "positive_definite",
        "lower_cholesky",
        "corr_cholesky",
    ):
        for case in cases:
            if np.shape(case) == (2, 3) and "cholesky" in name:
                continue
            a, b = (
                importlib.import_module(f"{t.__name__}.distributions.constraints").__dict__[name].check(
                    t.tensor(case, dtype=t.float64)
                )
                for t in (torch, sg)
            )  # fmt: skip
            assert a.tolist() == b.tolist(), (name, case)
            assert b.dtype == sg.bool


def test_triangles_of_vectors():
    for diag in (-1, 0, 1):
        v = np.arange(1.0, 1 + {-1: 6, 0: 6, 1: 8}[diag]) * np.ones((2, 1))
        a, b = (importlib.import_module(f"{t.__name__}.distributions.utils") for t in (torch, sg))
        want, found = a.vec_to_tril_matrix(torch.tensor(v), diag), b.vec_to_tril_matrix(sg.tensor(v), diag)
        np.testing.assert_array_equal(found.numpy(), want.numpy())
        np.testing.assert_array_equal(b.tril_matrix_to_vec(found, diag).numpy(), v)
    with pytest.raises(ValueError, match="The size of last dimension is 4 which cannot be expressed"):
        b.vec_to_tril_matrix(sg.ones(4))
    with pytest.raises(ValueError, match="is outside"):
        b.tril_matrix_to_vec(sg.ones(2, 2), 2)


def test_parts_that_are_others_are_refused():
    D = sg.distributions
    both = [D.ExpTransform(), D.ExpTransform()]
    for refused in (
        lambda: D.CatTransform(both, 0, [1]),
        lambda: D.CatTransform([abs, abs]),
        lambda: D.CatTransform(both, 0)(sg.ones(3)),
        lambda: D.StackTransform(both, 0)(sg.ones(3)),
        lambda: D.StackTransform(both, 1)(sg.ones(2)),
        lambda: D.CorrCholeskyTransform().forward_shape((4,)),
        lambda: D.constraints.cat([D.constraints.real], 0, [1, 2]),
        lambda: D.constraints.stack([abs]),
    ):
        with pytest.raises(ValueError, match=r"match|must be|must equal|out of range|flattened"):
            refused()


def test_what_parameters_satisfy():
    """``transform_to(Normal.arg_constraints["scale"])`` is how programs find parameters without constraints."""
    ours, theirs = (importlib.import_module(f"{t.__name__}.distributions") for t in (sg, torch))
    theirs.Distribution.set_default_validate_args(True)  # torch.compile switches the checks off for good
    names = [name for name in theirs.__all__ if hasattr(getattr(theirs, name), "arg_constraints")]
    assert len(names) > 40
    for name in set(names) - {"Distribution", "ExponentialFamily"}:
        found, wanted = (getattr(D, name).arg_constraints for D in (ours, theirs))
        if isinstance(wanted, property):
            assert isinstance(found, property)
        else:
            assert {k: repr(c) for k, c in found.items()} == {k: repr(c) for k, c in wanted.items()}, name
    for make in (lambda D, t: D.Uniform(t.zeros(2), t.ones(2)), lambda D, t: D.Wishart(3.0, t.eye(2))):
        found, wanted = (make(D, t).arg_constraints for D, t in ((ours, sg), (theirs, torch)))
        assert {k: repr(c) for k, c in found.items()} == {k: repr(c) for k, c in wanted.items()}
    for D, t in ((ours, sg), (theirs, torch)):
        free = t.zeros(3, requires_grad=True)
        scale = D.transform_to(D.Normal.arg_constraints["scale"])(free)
        D.Normal(0.0, scale).log_prob(t.tensor(1.0)).sum().backward()
        assert free.grad.tolist() == [0.0] * 3

        class Own(D.Normal):
            arg_constraints = {**D.Normal.arg_constraints, "loc": D.constraints.positive}  # noqa: RUF012

        with pytest.raises(ValueError, match="Expected parameter loc"):
            Own(-1.0, 1.0)
        with pytest.raises(ValueError, match="Expected parameter low"):
            D.Uniform(2.0, 1.0)
