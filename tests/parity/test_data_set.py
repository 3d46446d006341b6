"""``.data = …`` on both sides: what it parts lies elsewhere, and is counted with its family all the same."""

from __future__ import annotations

import pytest

from tests.parity.test_changes import alike

pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

START = "x = t.full((2, 1), 0.5, dtype=t.float64, requires_grad=True)\n"


@pytest.mark.parametrize(
    "program",
    ["y = x.exp()\nv = y.view(-1)\ny.data = y.data * 2\nv.mul_(0.1)",
     "y = x.exp()\nv = y.view(-1)\ny.data = y.data * 2\ny.mul_(0.1)",
     "y = x.exp()\nv = y.view(-1)\nv.data = v.data * 2\nv.mul_(0.1)",
     "y = x.exp()\nw = y.view(2, 1)\nw.data = w.data * 2\nv = w.flatten()\nv.copy_(v.detach() * 2)",
     "y = x.exp()\nw = y[None]\ny.data = y.data * 2\nv = w[0][None]\nv.neg_()",
     "y = x.exp()\nv = y[:1]\ny.mul_(2)\ny.data = y.data * 2\nD.apply(v)",
     "y, v = x.detach().clone(), t.ones(2, 1)\ny.data = v\nv.mul_(2)",
     "y, v = x.detach().clone(), t.ones(2, 1)\ny.data = v\ny.mul_(2)",
     "y, v = x.detach().clone(), t.ones(2, 1)\ny.data = v\ny.data = t.ones(2, 1)\ny.mul_(2)",
     "y = x.detach().clone()\nv = y.detach()\ny.data = y.data * 2\ny.mul_(2)",
     "y = x[:, 0].detach().clone()\ny.data = y.data * 2\nv = y.repeat(2, 1)\ny.mul_(2)",
     "y = x.exp()\ny.data = y.data * 2\nv = t.cummax(y[0, 0], 0)[0]\ny.mul_(2)"],
)  # fmt: skip
def test_versions_and_values(program):
    alike(START + program, "(y._version, v._version, v.detach()._version, y.data._version, y.tolist(), v.tolist())")


@pytest.mark.parametrize(
    "program",
    ["y.mul_(2)\ny.data = y.data * 2",
     "y.data = y.data * 2",
     "y.data = y.data * 2\ny.mul_(2)",
     "y.data = y.data * 2\nz = z + y.exp().sum()\ny.mul_(2)",
     "v.data = v.data * 2\nv.mul_(2)",
     "y = D.apply(y)\ny.data = y.data * 2",
     "y.data = y.data * 2\ny.data = y.data * 2\nv.sin_()"],
)  # fmt: skip
@pytest.mark.parametrize("saver", ["y.sum()", "(y * y).sum()", "y.sin().sum()"])
def test_backward_objects_to_what_was_counted(program, saver):
    made = f"y = x.exp()\nv = y[:1]\nz = {saver}\n{program}\nz.backward()\n"
    alike(START + made, "None if x.grad is None else x.grad.tolist()")


@pytest.mark.parametrize("made", ["x.reciprocal().conj()", "x.sgn().conj()[:1]", "x.conj().mT"])
@pytest.mark.parametrize("change", ["v.squeeze_(0)", "v.unsqueeze_(0)", "v.squeeze_().mul_(2)"])
def test_a_conjugate_that_changes_its_shape_counts_with_what_it_shows(made, change):
    program = f"x = t.tensor([[2 + 0.5j]])\nv = {made}\n{change}"
    alike(program, "(v._version, x._version, v.tolist(), v.shape)")


@pytest.mark.parametrize("made", ["x * f + x * y + t.atan2(x, y)", "x * f / i", "x.to(t.complex128) * y[:1] - f / x"])
@pytest.mark.parametrize(
    "program",
    ["f.data = f.data * 2", "f.data.mul_(2)", "y.data.mul_(2)", "i.data = i * 2", "y[:1].data.zero_()", "f.mul_(2)",
     "y.data = y.data * 2\ny.data.mul_(3)"],
)  # fmt: skip
def test_operands_that_were_cast_are_read_as_they_were_given(made, program):
    start = "f, y, i = t.tensor(2.0), t.tensor([2.0, 3.0]), t.tensor([[1], [2]])\n"
    program = f"{start}z = ({made}).abs().sum()\n{program}\nz.backward()"
    alike(START + program, "None if x.grad is None else x.grad.tolist()")


@pytest.mark.parametrize("equation", ["ij,kj->ik", "ij,ij->", "ij,kj->ikj"])
def test_einsum_reads_what_its_operands_were(equation):
    program = f"y = x.repeat(1, 2)\nz = t.einsum('{equation}', y, y).sum()\ny.data = y.data * 2\nz.backward()"
    alike(START + program, "x.grad.tolist()")


@pytest.mark.parametrize("function", ["qr", "svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals"])
@pytest.mark.parametrize("change", ["y.mul_(2)", "y.data.mul_(2)", "y.data = y.data * 2"])
def test_decompositions_keep_their_parts_and_not_the_matrix(function, change):
    program = f"""y = x.repeat(1, 2) + t.tensor([[3.0, 1.0], [1.0, 2.0]])
found = t.linalg.{function}(y)
z = sum(part.abs().sum() for part in (found if isinstance(found, tuple) else (found,)))
{change}
z.backward()"""
    alike(START + program, "[round(entry, 9) for (entry,) in x.grad.tolist()]")


@pytest.mark.parametrize("saver", ["(x * x).sum()", "x.pow(3).sum()", "x.sin().sum()", "t.atan2(x, x + 1).sum()"])
@pytest.mark.parametrize(
    "program",
    ["x.data = x.data * 2\nv.data = v.data * 3",
     "v.data = v.data * 3\nx.data = x.data * 2",
     "x.data = x.data * 2\nv.data = v.data * 3\nw.data = w.data * 4",
     "x.data = x.data * 2\nv.data = v.data * 3\nx.data = x.data * 2"],
)  # fmt: skip
def test_what_is_detached_gets_data_of_its_own(saver, program):
    """One array had been that of both: what is known of it was overwritten, and backward read the old entries."""
    made = f"v, w = x.detach(), x.detach()\nz = {saver}\n{program}\nz.backward()\n"
    alike(START + made, "x.grad.tolist()")
