"""``python -m symgrad rules --prove``: what is proved, how a wrong rule is found, and what stays without a proof."""

from __future__ import annotations

import json
import random
import sys

import numpy as np
import pytest

from symgrad.__main__ import main
from symgrad.errors import FormulaError, LawBroken
from symgrad.op import TABLE
from symgrad.proving import laws, prove as proving
from symgrad.proving.exact import exact_law, symbolic
from symgrad.proving.points import points, points_law
from symgrad.proving.samples import make_case, ops

FEW = ["tanh", "inv", "abs", "floor_divide", "nextafter", "eye"]


def proved(capsys, *names):
    code = main(["rules", "--prove", "--json", *names])
    return code, json.loads(capsys.readouterr().out)


def test_what_is_proved_and_how(capsys):
    code, found = proved(capsys, *FEW)
    assert code == 0
    assert found["ok"]
    rows = {row["op"]: row for row in found["ops"]}
    assert [rows[name]["verdict"] for name in FEW] == ["proved"] * 3 + ["declared"] * 2 + ["proved"]
    assert (rows["tanh"]["how"], rows["inv"]["how"]) == ("SymPy", "50 digits")
    assert rows["eye"]["how"] == "no derivative"
    assert rows["abs"]["singular points"] == 1
    assert rows["inv"]["arguments"] == 2
    assert {"value", "jvp", "second order", "formula", "program", "float16", "complex"} <= set(rows["tanh"]["checks"])
    assert "derivative" in rows["floor_divide"]["reason"]


def test_the_table_for_people(capsys):
    assert main(["rules", "--prove", "sigmoid"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["op", "verdict", "how", "samples", "arguments", "points", "checks", "C"]
    assert lines[1].split()[:3] == ["sigmoid", "proved", "SymPy"]
    assert "1 op: 1 proved, 0 refuted, 0 unproved, 0 declared." in lines
    assert main(["rules", "sigmoid", "inv"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["sigmoid", "elementwise"],
        ["inv", "primitive"],
    ]


def test_several_processes_find_the_same(capsys):
    alone, shared = proved(capsys, "floor_divide", "eye"), proved(capsys, "floor_divide", "eye", "--jobs", "2")
    assert alone[0] == shared[0] == 0
    assert alone[1]["ops"] == shared[1]["ops"]
    assert main(["rules", "--prove", "eye", "--jobs", "0"]) == 2
    assert "a number of jobs from 1 on, not 0" in capsys.readouterr().err


def test_unknown_names(capsys):
    assert main(["rules", "--prove", "tanhh"]) == 2
    assert "Did you mean tanh" in capsys.readouterr().err
    assert main(["rules", "symbol"]) == 2
    assert "no rules to prove" in capsys.readouterr().err


MISTAKES = {
    "factor": lambda g: 2 * g,
    "sign": lambda g: -g,
    "small": lambda g: g + g / 10**9,
    "lost": lambda g: 0 * g,
}
UNARY = ["sin", "tanh", "exp", "log", "sqrt", "inv", "cumsum", "logsumexp", "softmax", "erf", "lgamma", "trace"]


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_with_a_mistake_is_refuted_by_name(seed, capsys, monkeypatch):
    rng = random.Random(seed)
    name, mistake = rng.choice(UNARY), rng.choice(sorted(MISTAKES))
    op = TABLE[name]
    laws.vjp_law(op, make_case(name, 0))  # from its first call on an op keeps rules at hand: the right ones
    for field in ("vjps", "conj_vjps"):
        right = getattr(op, field)[0]
        if right is None:  # an einsum, whose rule follows from it
            continue
        wrong = lambda *args, right=right, **params: MISTAKES[mistake](right(*args, **params))  # noqa: E731
        monkeypatch.setattr(op, field, (wrong, *getattr(op, field)[1:]))
    with pytest.raises(LawBroken, match=f"{name}: vjp of argument 0"):
        exact_law(op, make_case(name, 0))
    code, found = proved(capsys, name, "ge")
    assert code == 1
    assert not found["ok"]
    assert [row["op"] for row in found["ops"] if row["verdict"] == "refuted"] == [name]


def test_a_wrong_tangent_is_refuted(monkeypatch):
    op = TABLE["inv"]
    right = op.jvps[0]
    monkeypatch.setattr(op, "jvps", (lambda *args, **params: -right(*args, **params),))
    with pytest.raises(LawBroken, match="inv: jvp of argument 0"):
        exact_law(op, make_case("inv", 0))


def test_a_wrong_value_is_refuted(monkeypatch):
    op = TABLE["sinh"]
    monkeypatch.setattr(op, "kernel", lambda x: np.sinh(x) * (1 + 1e-7))
    with pytest.raises(AssertionError, match="sinh: the kernel's value against the definition"):
        exact_law(op, make_case("sinh", 0))


def test_what_has_no_proof_is_called_so(monkeypatch, capsys):
    monkeypatch.setattr(TABLE["sin"], "sympy", None)
    with pytest.raises(FormulaError):
        exact_law(TABLE["sin"], make_case("sin", 0))
    code, found = proved(capsys, "sin")
    assert code == 1
    assert found["unproved"] == 1
    assert "no value in many digits" in found["ops"][0]["reason"]


def test_a_compiler_that_is_missing_is_told(monkeypatch, capsys):
    monkeypatch.setattr(proving, "compiler", lambda: None)
    assert main(["rules", "--prove", "neg"]) == 0
    out = capsys.readouterr().out
    assert "not run: programs in C: there is no gcc or cc" in out
    assert out.splitlines()[1].endswith("not run")


def test_points_are_between_the_slopes_beside_them(monkeypatch):
    (point,) = points(TABLE["sqrt"])
    points_law(point)
    op = TABLE["xlogy"]
    (origin, _) = points(op)
    points_law(origin)
    monkeypatch.setattr(op, "decided", None)
    with pytest.raises(LawBroken, match="the gradient is 0.0, the slopes beside are -inf and -inf"):
        points_law(origin)


def test_every_kink_is_a_point():
    found = [point for op in ops() for point in points(op)]
    assert len(found) > 60
    for op in ops():
        assert len([p for p in found if p.op is op]) >= len(op.kinks or ())


@pytest.mark.parametrize("name", ["sin", "mul", "matmul", "cumsum", "logsumexp"])
def test_sympy_proves_what_it_can(name):
    assert symbolic(TABLE[name], make_case(name, 0, {"n": 2, "m": 3, "p": 2, "q": 2})) == [True] * len(
        make_case(name, 0)[0]
    )


@pytest.mark.slow
def test_the_whole_table(capsys):
    code, found = proved(capsys)
    assert code == 0, [row for row in found["ops"] if row["verdict"] not in ("proved", "declared")]
    assert found["proved"] > 300
    assert {row["op"] for row in found["ops"] if row["verdict"] == "declared"} == {"floor_divide", "nextafter"}


def test_without_ml_dtypes_the_rest_is_proved(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)  # what pip install . gives
    assert main(["rules", "--prove", "abs"]) == 0
    assert "not run: bfloat16: ml_dtypes is not installed" in capsys.readouterr().out
