"""What was recorded at some values is right at others: places, orders and counts follow them."""

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from tests.compiling.recorded import derived

PROGRAMS = [
    "x.mode(0)[0]",
    "x.mode(1)[0]*x.sum()",
    "sg.searchsorted(sg.tensor([0., .5, 1., 1.5], dtype=sg.float64), x)*x",
    "sg.bucketize(x, sg.tensor([0., .5, 1., 1.5], dtype=sg.float64))*x",
    "x[sg.searchsorted(sg.tensor([.5, 1.], dtype=sg.float64), x.mean(1))]",
    "x.round()*x",
    "x.floor()*x",
    "x.long()*x",
    "x.int()*x",
    "x.bool()*x",
    "(x>1)*x",
    "(x>1).double()*x",
    "x.argmax(0)*x",
    "x.argsort(0)*x",
    "x[x.argmax(0)]",
    "x.gather(0, x.argsort(0))",
    "x.take_along_dim(x.argsort(1), 1)",
    "x.kthvalue(2, 0)[0]",
    "x.nonzero().sum()*x",
    "x.unique().sum()*x",
    "x.long().flatten().bincount().sum()*x",
    "x.count_nonzero()*x",
    "(x>1).sum()*x",
    "x.sign()*x",
    "sg.heaviside(x-1, sg.tensor(0.5, dtype=sg.float64))*x",
    "x.topk(2, 0)[1]*x[:2]",
    "x.cummax(0)[1]*x",
    "x.max(0)[1]*x",
    "x.median(0)[1]*x",
    "x.nanmedian(0)[1]*x",
    "x.aminmax()[0]*x",
    "F.one_hot(x.argmax(1), 4)*x",
    "F.one_hot(x.long().flatten(), 3).sum(0)*x.sum()",
    "x.logical_not()*x",
    "x.msort()",
    "x.isclose(x.round())*x",
    "x.max()*x",
    "x.amax(0, keepdim=True)*x",
    "F.max_pool1d(x, 2)",
    "F.max_pool1d(x, 2, return_indices=True)[1]*F.max_pool1d(x, 2)",
    "F.max_unpool1d(*F.max_pool1d(x[None], 2, return_indices=True), 2)",
    "F.grid_sample(x[None, None], x[None, :, :, None].expand(1, 3, 4, 2)-1, align_corners=False)",
    "x.quantile(0.3, 0)",
    "x.nanquantile(0.3, 0)",
    "x.trunc()*x",
    "x.frac()",
    "x.fmod(0.7)",
    "x.remainder(0.7)",
    "x.logsumexp(0).argmax()*x",
    "x.index_select(1, x.sum(0).argsort())",
    "x.scatter(0, x.argsort(0), x)",
    "x.scatter_add(0, x.argsort(0), x)",
    "x.index_add(0, x.sum(1).argsort(), x)",
    "x.put((x.argsort(1)).flatten()[:4], x[0])",
    "x.renorm(2, 0, 1.)",
    "x.svd()[1]",
    "bool(x.sum()>100)*x",
    "sum(x[0])*x",
    "sg.combinations(x[0])",
    "F.embedding(x.long(), x)",
    "F.cross_entropy(x, x.argmax(1))",
    "F.nll_loss(x, x.argmin(1))",
    "F.cross_entropy(x, x.softmax(1))",
    "F.multilabel_margin_loss(x, x.long().clamp(0, 3))",
    "F.multi_margin_loss(x, x.argmax(1))",
    "F.hinge_embedding_loss(x, x.sign())",
    "x.corrcoef()",
    "sg.linalg.matrix_rank(x)*x",
    "sg.linalg.pinv(x)",
    "sg.linalg.lstsq(x.T, x.T)[0]",
    "(x@x.T).slogdet()[0]*x",
    "sg.linalg.eigh(x@x.T)[0]",
    "sg.linalg.lu_factor(x@x.T)[0]",
    "sg.linalg.lu(x@x.T)[1]",
    "sg.linalg.qr(x)[1]",
    "x.nansum()",
    "sg.nan_to_num(x)",
    "x.clamp(.7, 1.3)",
    "x.clip(x.min(), x.mean())",
    "x.hardshrink(1.)",
    "F.threshold(x, 1., .2)",
    "F.relu6(x*5)",
    "F.hardtanh(x-1)",
    "F.rrelu(x-1)",
    "F.pairwise_distance(x, x+1)",
    "F.triplet_margin_loss(x[:1], x[1:2], x[2:])",
    "F.smooth_l1_loss(x, x*2)",
    "F.huber_loss(x, x*3)",
    "F.adaptive_max_pool1d(x, 2)",
    "F.interpolate(x[None], size=6, mode='nearest')",
    "sg.trapz(x)",
    "sg.cumulative_trapezoid(x)",
    "sg.gradient(x)[0]",
    "sg.diff(x)",
    "x.nanmean()",
    "x.logcumsumexp(0)",
    "x.cumprod(0)",
    "x.cummin(0)[0]",
    "x.copysign(x-1)",
    "sg.frexp(x)[0]",
    "sg.ldexp(x, x.long())",
    "sg.tril_indices(3, 3).sum()*x",
    "sg.isin(x.long(), sg.tensor([1]))*x",
    "x.unique_consecutive().sum()*x",
    "np.interp(x, [0, 1, 2], [0, 1, 0])",
    'F.grid_sample(x[None, None], x[None, :, :, None].expand(1, 3, 4, 2) - 1, mode="nearest", align_corners=False)',
    'F.grid_sample(x[None, None], x[None, :, :, None].expand(1, 3, 4, 2) - 1, mode="bicubic", align_corners=False)',
    'F.grid_sample(x[None, None], x[None, :, :, None].expand(1, 3, 4, 2), padding_mode="reflection", align_corners=1)',
    "np.interp(x, [0, 1, 2], [0, 1, 0], period=1.5)",
    "F.gaussian_nll_loss(x, 2*x, x*0.3, eps=0.2)",
    "F.embedding(sg.tensor([0, 2, 1]), x, padding_idx=1)",
    "F.multilabel_margin_loss(x, sg.where(x > 1, 1, -1).long())",
]
"""Programs of x (3, 4) between 0.2 and 2."""


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("text", PROGRAMS)
def test_recorded_programs_follow_the_values(text, order):
    """The places of modes, and of the cells of grid_sample and interp, were those of the run."""
    rng = np.random.default_rng(0)
    program = sg.compile(derived(text, rng.uniform(0.2, 2, (3, 4)), order), ["x"])
    for _ in range(4):
        values = rng.uniform(0.2, 2, (3, 4))
        wanted = derived(text, values, order).detach().numpy()
        assert np.allclose(program(values), wanted, rtol=1e-9, equal_nan=True)


DECIDED = [
    "sg.special.legendre_polynomial_p(x, 2*x)",
    "sg.special.hermite_polynomial_he(x, x.round())",
    "sg.quantile(x, x[0, :3]/2, dim=0)",
    "sg.nanquantile(sg.where(x > 1, x, sg.nan), 0.3, 0)",
    "sg.nanmedian(sg.where(x > 1, x, sg.nan), 0)[0]",
]
"""Of x (3, 4), too: at other values they are right, or refused."""


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("text", DECIDED)
def test_what_was_decided_by_values_is_told(text, order):
    """Degrees of polynomials, levels of quantiles and counts of nan were those of the run."""
    rng = np.random.default_rng(0)
    first = rng.uniform(0.2, 2, (3, 4))
    program = sg.compile(derived(text, first, order), ["x"])
    assert np.allclose(program(first), derived(text, first, order).detach().numpy(), rtol=1e-9, equal_nan=True)
    refused = 0
    for _ in range(8):
        values = rng.uniform(0.2, 2, (3, 4))
        try:
            found = program(values)
        except ValueError:
            refused += 1
            continue
        assert np.allclose(found, derived(text, values, order).detach().numpy(), rtol=1e-9, equal_nan=True)
    assert refused


OF_LABELS = {
    "cross entropy": lambda x, t: F.cross_entropy(x, t),
    "likelihood": lambda x, t: F.nll_loss(x.log_softmax(1), t),
    "one ignored": lambda x, t: F.cross_entropy(x, t, ignore_index=2),
    "the last ignored": lambda x, t: F.cross_entropy(x, t, ignore_index=-1),
    "weights": lambda x, t: F.cross_entropy(x, t, weight=sg.arange(1, 5, dtype=sg.float64)),
    "margins": lambda x, t: F.multi_margin_loss(x, t),
    "lists": lambda x, t: F.multilabel_margin_loss(x, sg.where(F.one_hot(t % 4, 4) > 0, (t % 4)[:, None], -1)),
    "a list for each": lambda x, t: F.multilabel_margin_loss(x, t.reshape(5, 1).repeat(1, 4)),
    "rows": lambda x, t: F.embedding(t % 4, x[:4], padding_idx=2).sum(),
    "counts": lambda x, t: F.one_hot(t, 4).sum(0) @ x[0],
    "places": lambda x, t: x[sg.arange(5), t].sum(),
    "alignment": lambda x, t: F.ctc_loss(
        x.log_softmax(1)[:, None], 1 + t[None, :2] % 3, sg.tensor([5]), sg.tensor([2])
    ),
}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", OF_LABELS)
def test_programs_of_labels_are_right_at_others_or_refuse_them(name, order):
    """Ignored labels had gradients, lists of labels and alignments were those of the run."""
    f, rng = OF_LABELS[name], np.random.default_rng(0)

    def found(values, labels):
        x, t = sg.tensor(values, requires_grad=True, name="x"), sg.tensor(labels, name="t")
        y = f(x, t)
        return sg.autograd.grad(y, x, create_graph=True)[0] if order else y

    program = sg.compile(found(rng.normal(size=(5, 4)), [0, 3, 2, 1, 1]), ["x", "t"])
    ignored = [[0, -1, 2, 1, 1]] if name == "the last ignored" else [[0, -100, 2, 1, 1], [0, 1, 2, 3, 9]]
    for labels in ([0, 3, 2, 1, 1], [0, 0, 3, 3, 1], [2, 2, 2, 1, 0], *ignored):
        values = rng.normal(size=(5, 4))
        try:
            made = program(values, np.array(labels))
        except (IndexError, ValueError):
            assert labels != [0, 3, 2, 1, 1]
            continue
        assert np.allclose(made, found(values, labels).detach().numpy(), rtol=1e-9), labels


def test_what_another_graph_decided_by_a_variable_of_the_same_name_does_not_count():
    """Looks at a variable x that is still alive were conditions of every later graph with an x."""
    old = sg.tensor(np.eye(3), requires_grad=True, name="x")
    kept = sg.nanmedian(old, 0)[0] + sg.linalg.matrix_rank(old)
    x = sg.tensor(np.ones((3, 4)), requires_grad=True, name="x")
    program = sg.compile((x**2).sum(), ["x"])
    assert not program.source.count("Holds")
    assert program(np.full((5, 2), 2.0)) == 40.0
    assert kept.shape == (3,)


def by_an_entry(x):
    return 2 * x if x[1] > 0 else x


def by_a_number(x):
    return x if x.sum().item() > 0 else -x


@pytest.mark.parametrize("f", [by_an_entry, by_a_number])
def test_a_result_that_is_the_variable_itself(f):
    """No operation is recorded, and the way is chosen all the same."""
    values = np.array([1.3, -0.7])
    program = sg.compile(f(sg.tensor(values, requires_grad=True, name="x")), ["x"])
    np.testing.assert_array_equal(program(values), values)
    with pytest.raises(sg.errors.ArgumentError, match="recorded with other values"):
        program(-values)
