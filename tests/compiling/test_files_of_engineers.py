"""Files of gradients as engineers write them: they hold at other sizes, and are written without delay."""

import runpy

import numpy as np
import pytest

import symgrad as sg

F = sg.nn.functional
rng = np.random.default_rng(0)


def filtered(taps, signal, wanted):
    return ((F.conv1d(signal[None, None], taps.flip(0)[None, None])[0, 0] - wanted) ** 2).mean()


def heated(u, wanted):
    for _ in range(2):
        u = sg.cat([u[:1], u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return ((u - wanted) ** 2).sum()


OPEN = {
    "taps that would outnumber the samples": (filtered, ((3,), (9,), (7,)), ((4,), (6,), (3,))),
    "ends that stay beside an inside that is computed": (heated, ((8,), (8,)), ((5,), (5,))),
    "slopes by differences": (lambda x: (np.gradient(x) ** 2).sum(), ((8,),), ((5,),)),
    "slopes between points": (
        lambda x, t: (sg.gradient(x, spacing=(sg.cumsum(t, 0),), edge_order=2)[0] ** 2).sum(),
        ((8,), (8,)),
        ((5,), (5,)),
    ),
}


@pytest.mark.parametrize("case", OPEN)
def test_other_sizes(case, tmp_path):
    """The first was a ValueError of NumPy's at sizes that were tried, and files of the second held for one size."""
    f, *sizes = OPEN[case]
    program = sg.compile(sg.func.grad(f), *map(rng.random, sizes[0]), name="slope")
    program.save(tmp_path / "f.py")
    function = runpy.run_path(str(tmp_path / "f.py"))["slope"]
    for shapes in sizes:
        args = [rng.random(shape) for shape in shapes]
        np.testing.assert_allclose(function(*args), sg.func.grad(f)(*args), rtol=1e-9)


def test_formulas_of_many_results_are_left_out(tmp_path):
    """That of one step of an orbit, with six slopes, took eight seconds."""

    def energy(x, y, u, v, mass, step):
        pull = step * mass / sg.sqrt(x * x + y * y) ** 3
        u, v = u - pull * x, v - pull * y
        return (x + step * u) ** 2 + (y + step * v) ** 2 + u * u + v * v

    path = tmp_path / "energy.py"
    sg.compile(sg.func.grad(energy, argnums=range(6)), 1.0, 0.2, 0.1, 1.0, 1.0, 0.01).save(path)
    assert "% not printed: its 6 results have " in path.read_text()
