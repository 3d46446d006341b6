"""``save`` and ``load``: files that run nothing when only weights are asked for."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import symgrad as sg


def stored(thing):
    file = io.BytesIO()
    sg.save(thing, file)
    file.seek(0)
    return file


def test_weights_only():
    w = sg.tensor([[1.0, 2.0]], requires_grad=True, name="w")
    (w * 2).sum().backward()
    kept = {
        "model": OrderedDict(w=w, b=sg.nn.Parameter(sg.ones(2))),
        "optimiser": [sg.zeros(2, dtype=sg.float64), sg.tensor(3), sg.tensor(1 + 2j), sg.tensor([True])],
        "epoch": 3,
        "shape": w.shape,
        "dtype": sg.float32,
        "rate": np.float64(0.1),
        "names": {"a", "b"},
    }
    found = sg.load(stored(kept), map_location="cpu", weights_only=True)
    assert found["model"]["w"].tolist() == w.tolist()
    assert found["model"]["w"].requires_grad
    assert found["model"]["w"].grad is None  # as in torch, which writes none
    assert isinstance(found["model"]["b"], sg.nn.Parameter)
    assert [t.tolist() for t in found["optimiser"]] == [t.tolist() for t in kept["optimiser"]]
    for key in ("epoch", "shape", "dtype", "rate", "names"):
        assert found[key] == kept[key]


def test_results_keep_their_graph():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    found = sg.load(stored((x.exp() * x).sum()), weights_only=True)
    assert found.latex() == (x.exp() * x).sum().latex()


class Bad:
    def __reduce__(self):
        return (os.getcwd, ())


@pytest.mark.parametrize("thing", [Bad(), {"w": [Bad()]}, np.array([Bad()], dtype=object), print, sg.sin])
def test_other_things_are_refused(thing):
    file = stored(thing)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        sg.load(file, weights_only=True)
    file.seek(0)
    sg.load(file)


def test_files(tmp_path):
    sg.save(sg.ones(2), tmp_path / "a.pt")
    assert sg.load(tmp_path / "a.pt", map_location=sg.device("cpu"), weights_only=True).tolist() == [1.0, 1.0]
    sg.save(Bad(), tmp_path / "b.pt")
    with pytest.raises(pickle.UnpicklingError):
        sg.load(str(tmp_path / "b.pt"), weights_only=True)


def test_weights_only_makes_what_a_program_trusts():
    from fractions import Fraction

    rooms = sg.serialization
    with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[Fraction\]\)"):
        sg.load(stored(Fraction(1, 3)), weights_only=True)
    with rooms.safe_globals([Fraction]):
        assert sg.load(stored(Fraction(1, 3)), weights_only=True) == Fraction(1, 3)
    assert rooms.get_safe_globals() == []
    rooms.add_safe_globals([(dict, "fractions.Fraction")])  # what a file calls by a name of its own
    assert rooms.get_safe_globals() == [dict]
    rooms.clear_safe_globals()


class Outer:
    class Inner(list):
        pass


def test_classes_inside_of_classes_are_trusted_by_their_path():
    with sg.serialization.safe_globals([Outer.Inner]):
        assert type(sg.load(stored(Outer.Inner([1])), weights_only=True)) is Outer.Inner
    with pytest.raises(pickle.UnpicklingError, match=r"Outer\.Inner"):
        sg.load(stored(Outer.Inner([1])), weights_only=True)


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "rand_like"])
def test_tensors_of_the_length_of_others_are_weights(name):
    tensor = getattr(sg, name)(sg.nn.Parameter(sg.ones(3)))
    assert sg.load(stored(tensor), weights_only=True).tolist() == tensor.tolist()
