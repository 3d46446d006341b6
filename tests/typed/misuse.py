"""What is no use of the library: type checkers are to refuse each of the lines in the functions (it never runs)."""

from __future__ import annotations

import symgrad as sg
import symgrad.nn.functional as F


def misspelt(x: sg.Tensor) -> None:
    sg.tanhh(x)
    x.expp()
    sg.linalg.inverse(x)
    F.reluu(x)
    sg.func.gradd(lambda x: x)
    sg.nn.Quaternion(2, 3)
    sg.nn.ELU(slope=2.0)
    x.grad.foo
    x.max(0).value


def of_another_kind(x: sg.Tensor) -> None:
    sg.tanh("x")
    x + "1"
    x["w"]
    x.sum(dim="0")
    sg.softmax(x, dim=None)
    sg.cat(3)
    x.add_(other="2")
    x.backward(retain_graph="yes")
    sg.matmul(x, None)


def of_another_call(x: sg.Tensor) -> None:
    sg.softmax(x)
    sg.exp(x, 2)
    x.transpose(0)
    sg.tensor()
    x.sort(dims=0)
    x.item(3, 4)
    sg.linalg.inv()


def of_another_result(x: sg.Tensor) -> None:
    x.sum().bit_length()
    x.max(dim=0).sum()
    x.shape[0].upper()
    sg.allclose(x, x).sum()
    sg.func.grad(norm)(1.0).bit_length()


def norm(x: sg.Tensor) -> sg.Tensor:
    return (x * x).sum()
