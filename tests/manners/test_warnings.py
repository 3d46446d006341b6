"""Warnings: which calls give one, in which words, how often, and at whose line."""

from __future__ import annotations

import warnings

import pytest

import symgrad
from symgrad.errors import SymgradWarning

SIZES = "that is different to the input size"
RESIZED = "An output with one or more elements was resized since it had shape"


@pytest.fixture
def given(t):
    """What a call warns of, in order; warnings that are otherwise given once are given always."""
    before = symgrad.is_warn_always_enabled()
    symgrad.set_warn_always(True)

    def collect(call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            eval(call, {"t": t, "F": t.nn.functional, "x": t.ones(2, requires_grad=True), "m": t.eye(2)})
        assert all(w.filename in ("<string>", __file__) or t is not symgrad for w in found)
        return [str(w.message).split(" (Triggered")[0] for w in found]

    yield collect
    symgrad.set_warn_always(before)


@pytest.mark.parametrize("call", ["float(x.sum())", "complex(x.sum())", "t.ones(()) * float(x[0])"])
def test_numbers_of_tensors_with_history(given, call):
    """A Python number forgets the history of the tensor."""
    words = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
    assert given(call) == [words + "tensor.detach() first."]


@pytest.mark.parametrize(
    "call",
    [
        "int(x.sum())",
        "x.sum().item()",
        "bool(x.sum())",
        "float(x.detach().sum())",
        "(y := x.sum()) is None or t.no_grad()(lambda: float(y))()",
    ],
)
def test_numbers_without_a_word(given, call):
    """Whole numbers, truth values and what is asked for by name give no warning."""
    assert not given(call)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_softmax_without_an_axis(given, name):
    """The axis is guessed, which is deprecated; with one nothing is said."""
    words = (
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument."
    )
    assert given(f"F.{name}(m)") == [words]
    assert not given(f"F.{name}(m, dim=0)")


@pytest.mark.parametrize(
    ("call", "start"),
    [
        ("t.qr(m)", "torch.qr is deprecated in favor of torch.linalg.qr"),
        ("m.qr()", "torch.qr is deprecated in favor of torch.linalg.qr"),
        ("t.cholesky(m)", "torch.cholesky is deprecated in favor of torch.linalg.cholesky"),
        ("t.triangular_solve(m, m)", "torch.triangular_solve is deprecated"),
        ("t.lu(m)", "torch.lu is deprecated in favor of torch.linalg.lu_factor"),
        ("t.chain_matmul(m, m)", "torch.chain_matmul is deprecated"),
        ("t.meshgrid(x, x)", "torch.meshgrid: in an upcoming release"),
        ("x.T", "The use of `x.T` on tensors of dimension other than 2"),
        ("t.ones(()).T", "Tensor.T is deprecated on 0-D tensors."),
        ("t.ones(2, 2, 2).T", "The use of `x.T` on tensors of dimension other than 2"),
        ("t.where(t.ones(2, dtype=t.uint8), x, x)", "where received a uint8 condition tensor."),
        ("x.scatter(0, t.tensor([0]), t.ones(1), reduce='add')", "The reduce argument of torch.scatter with Tensor"),
        ("F.upsample(t.ones(1, 1, 2, 2), 4)", "`nn.functional.upsample` is deprecated."),
        ("F.upsample_nearest(t.ones(1, 1, 2, 2), 4)", "`nn.functional.upsample_nearest` is deprecated."),
        ("F.upsample_bilinear(t.ones(1, 1, 2, 2), 4)", "`nn.functional.upsample_bilinear` is deprecated."),
        ("F.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2))", "Default grid_sample and affine_grid behavior"),
        ("F.affine_grid(t.ones(1, 2, 3), (1, 1, 2, 2))", "Default grid_sample and affine_grid behavior"),
        ("t.tensor(m)", "To copy construct from a tensor"),
        ("m.new_tensor(m)", "To copy construct from a tensor"),
        ("F.l1_loss(m, m, size_average=False)", "size_average and reduce args will be deprecated, please use reductio"),
        ("F.mse_loss(m, m, reduce=False)", "size_average and reduce args will be deprecated, please use reduction='no"),
        ("F.mse_loss(m, m, reduction='elementwise_mean')", "reduction='elementwise_mean' is deprecated."),
        ("F.dropout2d(m)", "dropout2d: Received a 2-D input to dropout2d"),
        ("F.dropout2d(t.ones(1, 2, 2))", "dropout2d: Received a 3D input to dropout2d"),
        ("F.dropout3d(t.ones(1, 2, 2))", "dropout3d: Received a 3-D input to dropout3d"),
        ("t.std(t.ones(1))", "std(): degrees of freedom is <= 0."),
        ("t.ones(2, 1).var(1)", "var(): degrees of freedom is <= 0."),
        ("t.cov(t.ones(2, 1))", "cov(): degrees of freedom is <= 0."),
        ("(x * 2).grad", "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."),
        ("t.arange(3.0, out=t.ones(2))", "The number of elements in the out tensor of shape [2] is 2"),
    ],
)
def test_old_spellings(given, call, start):
    """What torch will give up, or means otherwise than it looks, is said once a call."""
    (words,) = given(call)
    assert words.startswith(start)


@pytest.mark.parametrize("call", ["m.T", "t.std(t.ones(2))", "t.var(t.ones(1), correction=0)", "x.grad"])
def test_nothing_to_say(given, call):
    """Their neighbours, which are in order."""
    assert not given(call)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_of_two_sizes(given, name):
    """A column beside a row gives a matrix of differences, which is hardly ever meant."""
    (words,) = given(f"F.{name}(t.ones(2, 1), t.ones(2))")
    assert SIZES in words
    assert not given(f"F.{name}(t.ones(2), t.ones(2))")


@pytest.mark.parametrize(
    "call",
    [
        "t.add(m, 1, out=t.ones(3))",
        "t.sum(m, 0, out=t.ones(3))",
        "t.mm(m, m, out=t.ones(3))",
        "t.cat([m, m], out=t.ones(3))",
        "t.linalg.inv(m, out=t.ones(3))",
    ],
)
def test_results_of_another_size(given, call):
    """A place with entries of another shape is given the result's; an empty one is there for that."""
    (words,) = given(call)
    assert words.startswith(RESIZED)
    assert not given(call.replace("t.ones(3)", "t.ones(0)"))


@pytest.mark.parametrize(
    "call", ["t.zeros(3, out=t.ones(2))", "t.eye(3, out=t.ones(2))", "t.linspace(0, 1, 4, out=x.data)"]
)
def test_factories_of_another_size(given, call):
    """What makes a tensor takes a place of any size."""
    assert not given(call)


def test_once_in_a_program(monkeypatch):
    """Such a warning is given the first time, at the user's line; then no more, until it is asked for always."""
    monkeypatch.setattr("symgrad.notices._given", set())
    x = symgrad.tensor(2.0, requires_grad=True)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        float(x)
        float(x)
        complex(x)
    assert [w.filename for w in found] == [__file__]


def test_always_is_yes_or_no(t):
    """torch's switch takes nothing but a bool."""
    with pytest.raises((TypeError, RuntimeError), match="expects a bool, but got int"):
        t.set_warn_always(1)


def test_protocols_that_are_not_followed():
    """A class of tensors that would tell what operations do is told that nobody asks it."""
    with pytest.warns(SymgradWarning, match=r"Length.__torch_dispatch__ is never called here") as found:

        class Length(symgrad.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                raise AssertionError

    assert [w.filename for w in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Width(symgrad.Tensor):
            def __add__(self, other):
                return 5

    assert symgrad.ones(2).as_subclass(Width) + 1 == 5
