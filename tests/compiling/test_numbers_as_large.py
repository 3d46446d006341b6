"""Numbers that are as large as an axis by chance: programs of recorded graphs are right at other sizes, or refuse."""

import random

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.op import Length
from tests.compiling.recorded import derived

GIVEN = [
    ("x.tile(3).sum(-1)", (3, 4), (5, 4)),
    ("x.tile(3, 1).cumsum(0)", (3, 4), (5, 4)),
    ("x.tile(1, 3)", (3, 4), (5, 4)),
    ("x.repeat(3, 1)", (3, 4), (5, 4)),
    ("x.repeat(3, 1, 1)", (3, 4), (5, 4)),
    ("x.repeat(x.shape[0], 1)", (3, 4), (5, 4)),
    ("x.tile(x.shape[0], 1)", (3, 4), (5, 4)),
    ("x.unsqueeze(0).expand(3, -1, -1)", (3, 4), (5, 4)),
    ("x.unsqueeze(0).expand(x.shape[0], -1, -1)", (3, 4), (5, 4)),
    ("x.unsqueeze(0).expand(3, x.shape[0], 4).cumsum(0)", (3, 4), (5, 4)),
    ("x.unsqueeze(2).expand(x.shape[0], x.shape[1], 3)", (3, 4), (5, 4)),
    ("sg.broadcast_to(x, (3,)+x.shape)", (3, 4), (5, 4)),
    ("x.repeat_interleave(3, dim=0)", (3, 4), (5, 4)),
    ("x.repeat_interleave(3, dim=1)", (3, 4), (5, 4)),
    ("x.repeat_interleave(x.shape[0], dim=1)", (3, 4), (5, 4)),
    ("x.unfold(0, 3, 1)", (3, 4), (5, 4)),
    ("x.unfold(0, 3, 1).prod(-1)", (3, 4), (5, 4)),
    ("x.unfold(1, 2, 1)*2", (2, 4), (3, 6)),
    ("x*x.unfold(0, 3, 1).sum()", (3, 4), (5, 4)),
    ("F.avg_pool1d(x, 3)", (3, 6), (5, 9)),
    ("F.max_pool1d(x, 3)", (3, 6), (5, 9)),
    ("F.avg_pool1d(x, 2)", (2, 6), (5, 8)),
    ("F.pad(x, (3, 0))", (3, 4), (5, 4)),
    ("F.pad(x, (3, 3)).cumsum(1)", (3, 4), (5, 4)),
    ("x.sum()*sg.ones(3)", (3, 4), (5, 4)),
    ("x.sum()*sg.ones(x.shape[0])", (3, 4), (5, 4)),
    ("x.sum()*sg.zeros(3, 3) + 1.", (3, 4), (5, 4)),
    ("x.sum()*sg.arange(3.)", (3, 4), (5, 4)),
    ("x.sum()*sg.arange(x.shape[0])", (3, 4), (5, 4)),
    ("x.sum()*sg.eye(3)", (3, 4), (5, 4)),
    ("x.sum()*sg.eye(x.shape[0])", (3, 4), (5, 4)),
    ("x.sum()*sg.linspace(0, 1, 3)", (3, 4), (5, 4)),
    ("x.sum()*sg.full((3,), 2.)", (3, 4), (5, 4)),
    ("x.sum()*sg.full((x.shape[0],), 2.)", (3, 4), (5, 4)),
    ("x.sum()*sg.ones_like(x)", (3, 4), (5, 4)),
    ("x.sum()*x.new_ones(3)", (3, 4), (5, 4)),
    ("x.sum()*x.new_ones(x.shape[0])", (3, 4), (5, 4)),
    ("x.sum()*x.new_zeros((3,))", (3, 4), (5, 4)),
    ("x.sum()*sg.zeros_like(x).add(1.)", (3, 4), (5, 4)),
    ("x[:3]", (3, 4), (5, 4)),
    ("x[:3].cumsum(0)", (3, 4), (5, 4)),
    ("x.narrow(0, 0, 3)", (3, 4), (5, 4)),
    ("x.narrow(0, 0, x.shape[0])", (3, 4), (5, 4)),
    ("x.narrow(1, 1, 3)", (3, 4), (5, 6)),
    ("x[:, :3]", (3, 4), (5, 6)),
    ("x[:, 1:4]", (3, 4), (5, 6)),
    ("x.topk(3, dim=1)[0]", (3, 4), (5, 6)),
    ("x.topk(3, dim=0)[0]", (3, 4), (5, 6)),
    ("x.sort(0)[0][:3]", (3, 4), (5, 6)),
    ("x.roll(3, 1)", (3, 4), (5, 6)),
    ("x.roll(1, 0)", (3, 4), (5, 6)),
    ("x.reshape(3, 4).cumsum(1)", (3, 4), (3, 4)),
    ("x.reshape(3, -1)", (3, 4), (6, 4)),
    ("x.reshape(3, -1).cumsum(1)", (3, 4), (6, 4)),
    ("x.reshape(-1, 4)", (3, 4), (3, 8)),
    ("x.reshape(-1, 3)", (3, 4), (6, 4)),
    ("x.reshape(-1, 2)", (3, 4), (6, 4)),
    ("x.reshape(-1, 2, 2)", (2, 4), (6, 4)),
    ("x.reshape(-1, 2, 2).cumsum(0)", (2, 4), (6, 4)),
    ("x.reshape(2, -1)", (2, 4), (6, 4)),
    ("x.reshape(2, -1).cumsum(1)", (2, 4), (6, 4)),
    ("x.unflatten(1, (2, 2))", (2, 4), (3, 4)),
    ("x.unflatten(1, (2, -1))", (2, 4), (3, 6)),
    ("x.unflatten(1, (-1, 2)).sum(1)", (2, 4), (3, 6)),
    ("x.view(2, -1, 2)", (2, 4), (4, 4)),
    ("x.T.reshape(-1, 3)", (3, 4), (6, 4)),
    ("x.flatten()[:3]", (3, 4), (5, 4)),
    ("x.flatten()[:12]", (3, 4), (5, 4)),
    ("x.flatten()[3:]", (3, 4), (5, 4)),
    ("x.mean(0)[:3]", (3, 4), (5, 6)),
    ("x.diagonal()[:3]", (3, 4), (5, 6)),
    ("x.kthvalue(3, dim=0)[0]", (3, 4), (5, 6)),
    ("x.chunk(3, dim=0)[0]", (3, 4), (6, 4)),
    ("x.chunk(2, dim=0)[1]", (2, 4), (6, 4)),
    ("x.split(3, dim=1)[0]", (3, 4), (6, 6)),
    ("x.split(2, dim=0)[0]", (2, 4), (6, 6)),
    ("x.sum(0)/3", (3, 4), (6, 6)),
    ("x**3", (3, 4), (6, 6)),
    ("sg.stack([x, x, x]).sum(0)", (3, 4), (6, 6)),
    ("sg.stack([x, 2*x, x]).cumsum(0)", (3, 4), (6, 6)),
    ("sg.cat([x, x, x]).cumsum(0)", (3, 4), (6, 6)),
    ("sg.einsum('ij, k->ijk', x, sg.ones(3))", (3, 4), (6, 6)),
    ("sg.outer(x.sum(1), sg.ones(3))", (3, 4), (6, 6)),
    ("sg.outer(sg.ones(3), x.sum(1))", (3, 4), (6, 6)),
    ("x @ sg.ones(4, 3)", (3, 4), (6, 4)),
    ("x.T @ sg.ones(3, 3)", (3, 4), (3, 5)),
    ("x.T @ sg.ones(3)", (3, 4), (5, 4)),
    ("x + sg.ones(4)", (3, 4), (5, 4)),
    ("x + sg.eye(3)", (3, 3), (5, 5)),
    ("sg.vander(x.sum(1), 3)", (3, 4), (5, 4)),
    ("sg.linalg.matrix_power(x, 3)", (3, 3), (5, 5)),
    ("x.diag_embed(3)", (3, 4), (5, 4)),
    ("sg.diag(x.sum(1), 3)", (3, 4), (5, 4)),
    ("F.interpolate(x[None], 6)", (3, 3), (5, 5)),
    ("F.interpolate(x[None], scale_factor=3)", (3, 3), (5, 5)),
    ("F.adaptive_avg_pool1d(x, 3)", (3, 6), (5, 9)),
    ("F.unfold(x[None, None], 3).cumsum(1)", (3, 6), (5, 9)),
    ("F.unfold(x[None, None], (2, 2))", (4, 4), (6, 6)),
    ("F.conv1d(x[None], sg.ones(3, 3, 3))", (3, 6), (3, 9)),
    ("F.conv1d(x[:, None], sg.ones(1, 1, 3))", (3, 6), (5, 9)),
    ("F.conv1d(x[:, None], sg.ones(1, 1, 3), padding=3)", (3, 6), (5, 9)),
    ("F.conv1d(x[:, None], sg.ones(1, 1, 2), stride=3)", (3, 6), (5, 9)),
    ("x.diff(n=3)", (3, 6), (5, 9)),
    ("x.diff(n=2, dim=1)", (2, 6), (5, 9)),
    ("sg.fft.rfft(x, 4).abs()", (3, 4), (5, 6)),
    ("sg.fft.fft(x, 3).abs()", (3, 4), (5, 6)),
    ("x.tril(3)", (3, 6), (5, 9)),
    ("x.as_strided((3, 2), (1, 1))", (3, 6), (5, 9)),
    ("x.cov()", (3, 6), (5, 9)),
    ("x.std(0, correction=3)", (4, 3), (5, 9)),
    ("x.quantile(0.5, dim=0)", (3, 6), (5, 9)),
    ("x.nanmean(0)*sg.logspace(0, 1, 6)", (3, 6), (5, 9)),
    ("F.group_norm(x[None], 3)", (3, 6), (6, 9)),
    ("F.pixel_shuffle(x.reshape(1, 4, 2, -1), 2)", (4, 4), (8, 4)),
    ("F.glu(x, 1)", (4, 4), (8, 6)),
    ("sg.combinations(x.sum(1), 3)", (3, 4), (5, 6)),
    ("sg.block_diag(x, sg.ones(3, 3))", (3, 4), (5, 6)),
    ("sg.kron(x, sg.ones(3, 1))", (3, 4), (5, 6)),
    ("sg.kron(sg.eye(3), x)", (3, 4), (5, 6)),
    ("sg.einsum('ab, cd->acbd', sg.eye(3), x)", (3, 4), (5, 6)),
    ("sg.einsum('ab, cd->abcd', x.T @ sg.ones(3, 3), x)", (3, 4), (3, 5)),
    ("sg.cdist(sg.ones(3, 4), x).reshape(3, -1)", (3, 4), (5, 4)),
    ("(sg.ones(3, 3).reshape(9, 1) * x.sum()).reshape(3, 3)", (3, 9), (5, 9)),
    ("F.pad(x, (0, 0, 3, 0))", (3, 4), (5, 6)),
    ("x.index_select(0, sg.arange(3))", (3, 4), (5, 6)),
    ("x[sg.arange(3)]", (3, 4), (5, 6)),
    ("x[sg.tensor([0, 1, 2])]", (3, 4), (5, 6)),
    ("x[[0, 1, 2]]", (3, 4), (5, 6)),
    ("x.softmax(0)*sg.ones(3, 1)", (3, 4), (5, 6)),
    ("sg.cdist(x, sg.zeros(3, 4))", (3, 4), (5, 4)),
    ("sg.cat([x, sg.zeros(3, 4)])", (3, 4), (5, 4)),
    ("sg.cat([x, sg.zeros(1, 4)])", (3, 4), (5, 4)),
    ("sg.cat([x, x.new_zeros(1, x.shape[1])])", (3, 4), (5, 6)),
    ("sg.cat([x.sum(0), sg.zeros(4)])", (3, 4), (5, 6)),
    ("sg.cat([x.sum(0), sg.ones(3)])", (3, 4), (5, 6)),
]
"""A program of x, the shape at which it is recorded, and another one."""

OPEN = [
    "x.repeat(x.shape[0], 1)",
    "x.repeat(2, 1)",
    "x.tile(1, x.shape[0])",
    "x.unsqueeze(0).expand(x.shape[0], -1, -1)",
    "x.repeat_interleave(x.shape[0], dim=1)",
    "x.reshape(-1)",
    "x.reshape(x.shape[0], -1)",
    "x.flatten().unflatten(0, x.shape)",
    "x.sum() * sg.ones(x.shape[0])",
    "x.sum() * sg.full((x.shape[1], 2), 2.0)",
    "x.sum() * x.new_ones(x.shape[1])",
    "x.sum() * sg.arange(x.shape[0])",
    "x.sum() * sg.eye(x.shape[0])",
    "x * sg.ones_like(x)",
    "sg.zeros_like(x) + x.sum()",
    "x.narrow(0, 0, x.shape[0])",
    "x @ sg.ones(x.shape[1], 2, dtype=x.dtype)",
    "x.diff(dim=1)",
    "x.cov()",
    "F.pad(x, (2, 1))",
    "x.softmax(0).logsumexp(1)",
]
"""Programs that hold at all sizes: sizes that are taken from tensors, by users or by the library, stay sizes."""


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("text", "shape", "other"), GIVEN, ids=[text for text, _, _ in GIVEN])
def test_a_number_as_large_as_an_axis_is_no_size(text, shape, other, order):
    """x.tile(3) of three rows was a tile of n."""
    rng = np.random.default_rng(0)
    program = sg.compile(derived(text, rng.uniform(0.5, 2, shape), order), ["x"])
    values = rng.uniform(0.5, 2, other)
    try:
        found = program(values)
    except ValueError:
        assert shape != other
        return
    wanted = derived(text, values, order).detach().numpy()
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted, rtol=1e-9, equal_nan=True)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("text", OPEN)
def test_sizes_of_tensors_stay_sizes(text, order):
    rng = np.random.default_rng(0)
    program = sg.compile(derived(text, rng.uniform(0.5, 2, (5, 8)), order), ["x"])
    for shape in ((5, 8), (3, 4), (5, 4), (6, 9)):
        values = rng.uniform(0.5, 2, shape)
        assert np.allclose(program(values), derived(text, values, order).detach().numpy(), rtol=1e-9)


def test_a_net_of_three_channels_and_kernels_of_three_is_open_to_other_batches():
    """The entries of a flattened image are as many as the next matrix has rows: both are told at the call."""

    def loss(x, W, V, t):
        h = F.max_pool2d(F.conv2d(x, W, padding=1).relu(), 2)
        return F.cross_entropy(h.flatten(1) @ V, t)

    rng = np.random.default_rng(0)

    def arrays(n):
        return [rng.normal(size=s) for s in ((n, 3, 6, 6), (5, 3, 3, 3), (45, 4))] + [rng.integers(0, 4, n)]

    first = [sg.tensor(a, requires_grad=a.dtype.kind == "f", name=k) for a, k in zip(arrays(7), "xWVt", strict=True)]
    program = sg.compile(loss(*first), list("xWVt"))
    row = arrays(9)
    assert np.isclose(program(*row), loss(*map(sg.tensor, row)).item())


STEPS = [
    "x.tile({k}, 1)", "x.repeat(1, {k})", "x.unfold(0, {k}, 1).sum(-1)", "x.unfold(1, {k}, 1).prod(-1)",
    "F.avg_pool1d(x, {k})", "F.max_pool1d(x, {k})", "F.pad(x, ({k}, 0))", "x[:{k}]", "x[..., -{k}:]",
    "x.narrow(0, 0, {k})", "sg.cat([x, sg.ones({k}, x.shape[1], dtype=x.dtype)])", "x.reshape(-1, {k})",
    "x.expand({k}, *x.shape).sum(0)", "x @ sg.ones(x.shape[1], {k}, dtype=x.dtype)", "x.roll({k}, 0)",
    "x.diff(n={k}, dim=0)", "x.reshape({k}, -1)", "x.topk({k}, 0)[0]", "x.repeat_interleave({k}, 1)",
    "sg.outer(x.sum(1), sg.arange({k}, dtype=x.dtype))", "x.sum() * sg.eye({k}, dtype=x.dtype)", "x.chunk({k}, 0)[0]",
    "sg.linspace(0, 1, {k}, dtype=x.dtype)[:, None] * x.sum(0)", "x.cumsum(0)", "x.tanh()", "x - x.mean(0)",
    "x / x.norm()", "x.softmax(1)", "x * x.shape[0]", "x @ x.T", "x.T", "x.gather(0, x.argsort(0))",
]  # fmt: skip
"""Steps of drawn programs, with a number ``k``."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of means of no entries
@pytest.mark.parametrize("seed", [*range(60), *(pytest.param(k, marks=pytest.mark.slow) for k in range(60, 1500))])
def test_drawn_programs_with_numbers_are_right_at_other_sizes_or_refused(seed):
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    steps = [draw.choice(STEPS).format(k=draw.choice([2, 3, 4, 5])) for _ in range(draw.randint(1, 3))]
    shape, order = (draw.choice([2, 3, 4, 5]), draw.choice([2, 3, 4, 5, 6])), draw.choice([0, 1])
    try:
        graph = derived(steps, rng.uniform(0.5, 2, shape), order)
    except (ValueError, RuntimeError, IndexError):
        return  # no program of this shape
    program = sg.compile(graph, ["x"])
    for other in ((shape[0] + 1, shape[1]), (shape[0], shape[1] + 1), (6, 7)):
        values = rng.uniform(0.5, 2, other)
        try:
            found = program(values)
        except ValueError:
            continue
        wanted = derived(steps, values, order).detach().numpy()
        assert found.shape == wanted.shape, steps
        assert np.allclose(found, wanted, rtol=1e-8), steps


def test_lengths_are_weak_beside_single_precision():
    """NumPy takes 3 beside float32 for float32 only where its class is int."""
    n, x = Length(3), sg.ones(2)
    for made in (x * n, n * x, x / n, x + n, sg.where(x > 0, x, n), sg.clamp(x, 0, n), np.ones(2, np.float32) * n):
        assert made.dtype == np.float32


def test_arrays_without_entries_are_reshaped_in_programs():
    """The reading of such a graph did not end: no product of sizes of which one is 0 reaches another."""
    program = sg.compile(derived("x.diff(n=3, dim=0).reshape(3, -1)", np.ones((2, 4)), 0), ["x"])
    assert program(np.ones((2, 4))).shape == (3, 0)
