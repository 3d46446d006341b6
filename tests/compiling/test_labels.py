"""Labels and places that are arguments of programs: others are right, or refused, as the functions themselves do."""

import importlib.util
import runpy

import numpy as np
import pytest

import symgrad as sg
from tests.compiling.test_frameworks import array, on_every_target, precise

F = sg.nn.functional
COUNTED = {
    "cross_entropy": lambda x, t: F.cross_entropy(x, t),
    "nll_loss": lambda x, t: F.nll_loss(x, t),
    "multi_margin": lambda x, t: F.multi_margin_loss(x, t),
    "embedding": lambda x, t: (F.embedding(t, x) ** 2).sum(),
    "one_hot": lambda x, t: (F.one_hot(t, 4) * x).sum(),
    "gather": lambda x, t: (x.gather(1, t[:, None]) ** 2).sum(),
    "index_select": lambda x, t: (x.index_select(0, t) ** 2).sum(),
    "index_add": lambda x, t: (sg.zeros(4, 4, dtype=sg.float64).index_add(0, t, x) ** 2).sum(),
}
LABELS, OTHERS = np.array([0, 2, 1]), np.array([2, 2, 0])
WRONG = [np.array([0, -1, 1]), np.array([0, -100, 1]), np.array([0, 9, 1])]


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("derive", [False, True])
def test_recorded_programs_refuse_labels_below_0(name, derive):
    """They counted from the end, silently; -100, which does not count, where there are as many classes."""
    rng = np.random.default_rng(0)
    values = rng.random((3, 4))

    def found(t):
        x = sg.tensor(values, requires_grad=True, name="x")
        y = COUNTED[name](x, sg.tensor(t, name="t"))
        return sg.autograd.grad(y, x, create_graph=True)[0] if derive else y

    program = sg.compile(found(LABELS), ["x", "t"])
    for t in (LABELS, OTHERS):
        assert np.allclose(program(values, t), found(t).detach().numpy())
    for t in WRONG:
        with pytest.raises((ValueError, IndexError)):
            program(values, t)


def test_places_that_count_from_the_end_go_on_doing_so():
    x = sg.tensor(np.arange(12.0).reshape(3, 4), requires_grad=True, name="x")
    program = sg.compile(x[sg.tensor([0, 2, 1], name="t")].sum(1), ["x", "t"])
    assert program(np.arange(12.0).reshape(3, 4), np.array([-1, 0, 1])).tolist() == [38, 6, 22]


@on_every_target
@pytest.mark.parametrize("name", COUNTED)
def test_functions_of_labels_are_written_for_other_libraries(name, target, tmp_path):
    """What was asked of labels, whether they are classes, was taken for a way through the function, and refused."""
    values = np.random.default_rng(0).random((3, 4))
    gradient = sg.func.grad(COUNTED[name])
    sg.compile(gradient, values, LABELS).save(tmp_path / "f.py", target=target)
    with precise(target):
        f = runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"]
        for t in (LABELS, OTHERS):
            wanted = gradient(sg.tensor(values), sg.tensor(t)).numpy()
            np.testing.assert_allclose(np.asarray(f(array(target, values), array(target, t))), wanted, rtol=1e-12)
        for t in WRONG:
            with pytest.raises(IndexError, match="a place in t"):
                f(array(target, values), array(target, t))


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_numba_refuses_them_too(tmp_path):
    values = np.random.default_rng(0).random((3, 4))
    sg.compile(COUNTED["embedding"], values, LABELS).save(tmp_path / "f.py", target="numba")
    f = runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"]
    assert np.isclose(f(values, OTHERS), COUNTED["embedding"](sg.tensor(values), sg.tensor(OTHERS)).item())
    with pytest.raises(IndexError, match="a place in t"):
        f(values, WRONG[0])


PICKED = {
    "entries": lambda x, t: (x[sg.arange(3), t] ** 2).sum(),
    "rows": lambda x, t: (x[t] ** 2).sum(),
    "columns": lambda x, t: (x[:, t] ** 2).sum(),
    "behind": lambda x, t: (x[..., t] ** 2).sum(),
    "along": lambda x, t: (sg.take_along_dim(x, t[:, None], 1) ** 2).sum(),
}


@on_every_target
@pytest.mark.parametrize("name", PICKED)
def test_places_beyond_an_axis_are_refused_in_other_libraries(name, target, tmp_path):
    """JAX took the last entry, silently, and gradients had none for such a place."""
    values = np.random.default_rng(0).random((3, 4))
    for derive in (False, True):
        f = sg.func.grad(PICKED[name]) if derive else PICKED[name]
        sg.compile(f, values, LABELS).save(tmp_path / "f.py", target=target)
        with precise(target):
            g = runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"]
            for t in (LABELS, np.array([-1, 0, -2])):
                wanted = f(sg.tensor(values), sg.tensor(t)).numpy()
                np.testing.assert_allclose(np.asarray(g(array(target, values), array(target, t))), wanted, rtol=1e-12)
            for t in (np.array([0, 9, 1]), np.array([0, -9, 1])):
                with pytest.raises((IndexError, RuntimeError), match="a place in t|out of bounds"):
                    g(array(target, values), array(target, t))


@on_every_target
def test_recorded_gradients_refuse_labels_that_are_no_classes(target, tmp_path):
    """A one that is nowhere left a row of zeros, in torch, too."""
    values = np.random.default_rng(0).random((3, 4))
    x = sg.tensor(values, requires_grad=True, name="x")
    slope = sg.autograd.grad(F.cross_entropy(x, sg.tensor(LABELS, name="t")), x, create_graph=True)[0]
    sg.compile(slope, ["x", "t"]).save(tmp_path / "f.py", target=target)
    with precise(target):
        g = runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"]
        for t in WRONG:
            with pytest.raises(IndexError, match="a place in t"):
                g(array(target, values), array(target, t))


@on_every_target
def test_parts_of_an_expression_are_written_for_other_libraries(target, tmp_path):
    """Of (0.7 x)[places] the brackets were lost, and some ops that pick have no index."""
    values = np.random.default_rng(0).random((3, 4))

    def f(x):
        y = F.pad((0.7 * x)[x.sum(1).argsort()], (1, 1))
        return y - y.mean() + (x * 2)[:, x.sum(0).argsort()].sum()

    for g in (f, sg.func.grad(lambda x: (f(x) ** 2).sum())):
        sg.compile(g, values).save(tmp_path / "f.py", target=target)
        with precise(target):
            h = runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"]
            np.testing.assert_allclose(np.asarray(h(array(target, values))), g(sg.tensor(values)).numpy(), rtol=1e-12)


@on_every_target
def test_filled_vectors_are_written_for_other_libraries(target, tmp_path):
    """torch.full takes no number for a shape, and such programs were refused."""
    f = sg.compile(lambda x: sg.cumsum(sg.full((x.shape[0],), 0.75, dtype=sg.float64) * 1.0, 0) @ x)
    assert [f(np.ones(n)) for n in (4, 5)] == [7.5, 11.25]
    f.save(tmp_path / "f.py", target=target)
    with precise(target):
        assert float(runpy.run_path(str(tmp_path / "f.py"))["_PROGRAM"](array(target, np.ones(3)))) == 4.5
