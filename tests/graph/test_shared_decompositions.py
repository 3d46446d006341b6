"""Decompositions of several parts are computed once, whoever overwrites what, and leave no memory behind."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ops.linalg import sharing

CALLS: dict[str, Any] = {
    "svd": lambda a: sg.linalg.svd(a, False),
    "eigh": lambda a: sg.linalg.eigh(a + a.mT),
    "eig": sg.linalg.eig,
    "qr": sg.linalg.qr,
    "lu": sg.linalg.lu,
    "slogdet": sg.linalg.slogdet,
}
SHAPES = [(3, 3), (40, 40), (6, 3, 3)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The kinds of decompositions that were computed; none is known from before."""
    found: list[Any] = []
    monkeypatch.setattr(sharing, "_KNOWN", sharing._Known())
    real = sharing.remember
    monkeypatch.setattr(sharing, "remember", lambda key, *rest: found.append(key[0]) or real(key, *rest))
    return found


def matrices(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def loss(parts: Any) -> Any:
    terms = [(abs(p) ** 2 * sg.arange(p.numel()).reshape(p.shape)).sum() for p in parts if p.requires_grad]
    return sum(terms[1:], terms[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CALLS)
def test_one_decomposition_of_a_call(name: str, shape: Any, counted: list[Any]) -> None:
    parts = CALLS[name](sg.tensor(matrices(shape)))
    assert counted == [name]
    assert len(parts) >= 2


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CALLS)
def test_no_further_decomposition_for_the_gradient(name: str, shape: Any, counted: list[Any]) -> None:
    a = sg.tensor(matrices(shape), requires_grad=True)
    parts = CALLS[name](a)
    loss(parts).backward()
    assert counted == [name]


@pytest.mark.parametrize("name", ["svdvals", "eigvalsh", "eigvals"])
def test_one_decomposition_for_the_gradient_of_values(name: str, counted: list[Any]) -> None:
    a = sg.tensor(matrices((20, 20)), requires_grad=True)
    values = getattr(sg.linalg, name)(a + a.mT)
    assert counted == []
    values.abs().sum().backward()
    assert len(counted) == 1


@pytest.mark.parametrize(("name", "whole"), [("svdvals", "svd"), ("eigvalsh", "eigh"), ("eigvals", "eig")])
def test_values_have_the_same_bits_whatever_else_is_alive(name: str, whole: str) -> None:
    for seed in range(5):
        x = matrices((12, 12), seed)
        a = sg.tensor(x + x.T)
        alone = getattr(sg.linalg, name)(a)
        parts = getattr(sg.linalg, whole)(a)
        np.testing.assert_array_equal(getattr(sg.linalg, name)(a).numpy(), alone.numpy())
        again = getattr(sg.linalg, whole)(sg.tensor(x + x.T))
        np.testing.assert_array_equal(again[whole == "svd"].numpy(), parts[whole == "svd"].numpy())


@pytest.mark.parametrize("name", CALLS)
def test_whoever_overwrites_a_part_changes_that_part_alone(name: str) -> None:
    a = sg.tensor(matrices((4, 4)))
    want = [p.numpy().copy() for p in CALLS[name](a)]
    for k in range(len(want)):
        parts = CALLS[name](a)
        again = CALLS[name](a)
        parts[k].mul_(2).add_(1)
        for got in (again, CALLS[name](a)):
            for p, w in zip(got, want, strict=True):
                np.testing.assert_array_equal(p.numpy(), w)


def test_an_overwritten_matrix_is_decomposed_anew() -> None:
    a = sg.tensor(matrices((4, 4)))
    u, s, vh = sg.linalg.svd(a)
    a.mul_(3)
    again = sg.linalg.svd(a)
    np.testing.assert_allclose(again.S.numpy(), 3 * s.numpy(), rtol=1e-14)
    a.data[0, 0] = 5.0
    np.testing.assert_allclose((lambda p: p[0] @ sg.diag(p[1]) @ p[2])(sg.linalg.svd(a)).numpy(), a.numpy(), atol=1e-12)
    assert u.shape == vh.shape


def test_an_overwritten_part_does_not_reach_the_gradient_of_another() -> None:
    """U is not saved for the singular values: its memory may change between the passes."""
    x = matrices((5, 5))
    a, b = (sg.tensor(x, requires_grad=True) for _ in range(2))
    u, s, _ = sg.linalg.svd(a)
    u.detach().zero_()
    s.sum().backward()
    sg.linalg.svdvals(b).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), atol=1e-12)


def test_gradients_of_gradients_and_transforms_share(counted: list[Any]) -> None:
    x = matrices((6, 6))
    a = sg.tensor(x, requires_grad=True)
    parts = sg.linalg.svd(a)
    (first,) = sg.autograd.grad(loss(parts[1:2]), a, create_graph=True)
    sg.autograd.grad((first**2).sum(), a)
    assert counted == ["svd"]
    del counted[:]
    stacked = sg.vmap(lambda m: sg.linalg.svd(m, False)[0])(sg.tensor(matrices((5, 3, 3))))
    assert stacked.shape == (5, 3, 3)


def test_threads_do_not_meet() -> None:
    results: dict[int, Any] = {}
    shared = sg.tensor(matrices((12, 12)))

    def work(k: int) -> None:
        for round_ in range(20):
            x = shared if round_ % 2 else sg.tensor(matrices((8, 8), 20 * k + round_))
            u, s, vh = sg.linalg.svd(x)
            results[20 * k + round_] = float(abs((u * s) @ vh - x).max())
            u.zero_()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert max(results.values()) < 1e-12


def test_nothing_large_stays() -> None:
    """Of matrices that live on, only their values are kept; of those that are gone, nothing."""
    kept = [sg.tensor(matrices((120, 120), k)) for k in range(8)]
    for name in CALLS:
        CALLS[name](kept[0])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for a in kept:
        sg.linalg.svd(a)
        sg.linalg.qr(a)
        sg.linalg.lu(a)
    for k in range(8):
        sg.linalg.svd(sg.tensor(matrices((120, 120), 100 + k)))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < kept[0].nbytes
