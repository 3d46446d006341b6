"""Programs as JSON: what is read back is the same program, a file is data and nothing else, and damage is told."""

import dataclasses
import hashlib
import json
from collections import OrderedDict

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler import load
from symgrad.compiler.exports.stored import text_of
from symgrad.compiler.program import build
from symgrad.compiler.specialise import same_bits
from symgrad.compiler.trace import trace
from symgrad.errors import ArgumentError, CompileError, ShapeError
from symgrad.op import TABLE
from symgrad.proving.laws import is_data
from symgrad.proving.samples import cases, make_case

rng = np.random.default_rng(0)
C = rng.normal(size=(3, 3))


def through(program, path):
    """A program written to a file and read back, with the same source and the same file once more."""
    program.save(path)
    found = load(path)
    assert text_of(found) == path.read_text(encoding="utf-8")
    return found


def changed(path, change):
    """The file with its data changed and a digest that fits, as somebody may write who knows how."""
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["sha256"]
    change(data)
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    data["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(data), encoding="utf-8")


# ---------------------------------------------------------------------------- the same program


def one_of_each_kind(chosen):
    """The first case of every room of kernels with parameters of these classes; the others are slow."""
    rows, seen = [], set()
    for name, k in chosen:
        op, (_, params) = TABLE[name], make_case(name, k)
        room = getattr(op.kernel, "__module__", None)
        kind = (op.kind, room, *sorted((key, type(value).__name__) for key, value in params.items()))
        rows.append(pytest.param(name, k, marks=[pytest.mark.slow] if kind in seen else []))
        seen.add(kind)
    return rows


@pytest.mark.parametrize(("name", "k"), one_of_each_kind(cases()[::3]))
def test_every_op_comes_back_to_the_last_bit(name, k, tmp_path):
    op = TABLE[name]
    args, params = make_case(name, k)
    arrays = [a for a in args if is_data(a)]

    def f(*xs):
        rest = iter(xs)
        return op(*(next(rest) if is_data(a) else a for a in args), **params)

    with np.errstate(all="ignore"):
        program = build(trace(f, arrays))
        found = through(program, tmp_path / "f.json")
        assert found.source == program.source
        assert same_bits(program(*arrays), found(*arrays))


def nested(p):
    return {"loss": (p["w"] ** 2).sum(), "parts": [p["w"] @ C, (p["b"] / 3, 0.1 + 0.2)]}


def branching(x):
    return (x * x).sum() if x.sum() > 0 else sg.exp(x).sum()


def attention(q, k, v, mask):
    scores = sg.where(mask, q @ k.mT / q.shape[-1] ** 0.5, -float("inf"))
    return (sg.softmax(scores, 1) @ v).sum()


x, A = rng.random(3), C @ C.T + np.eye(3)
PROGRAMS = {
    "nesting, constants": (nested, ({"w": x, "b": x},)),
    "gradient": (sg.func.grad(lambda A: sg.logdet(A) + (A @ x).sum()), (A,)),
    "value and gradient": (sg.func.value_and_grad(lambda x: sg.logsumexp(C @ x, 0)), (x,)),
    "Hessian": (sg.func.hessian(lambda x: sg.tanh(C @ x).sum()), (x,)),
    "Jacobian of two": (sg.func.jacobian(lambda x, y: (x * y, x.sum()), argnums=(0, 1)), (x, x)),
    "branch": (branching, (x,)),
    "gradient of a branch": (sg.func.grad(branching), (x,)),
    "nan and inf": (sg.func.grad(attention), (C, C, C, C > 0)),
    "half precision": (sg.func.grad(lambda x: sg.exp(x).mean()), (x.astype(np.float16),)),
    "complex": (lambda z: (z * (1 + 2j)).abs().sum(), (x + 1j * x,)),
    "indices": (lambda x, k: x[k][::-1, None] * x[[0, 2, 1]] + x[..., 1:].sum(), (x, np.array([2, 0]))),
    "slices of slices": (sg.func.grad(lambda x: (sg.diff(x[::2][::-2]) ** 2).sum()), (rng.random(11),)),
    "a size alone": (lambda x: x.mean() / (x.shape[0] - 1), (x,)),
    "a size that is fixed": (lambda v, A: sg.linalg.cross(v.expand(A.shape), A, dim=-1), (x, rng.random((4, 3)))),
    "stable": (sg.func.grad(lambda x: (sg.exp(x) / (1 + sg.exp(x))).sum()), (x,)),
    "an ordered dict": (lambda x: OrderedDict(b=x + 1, a=x), (x,)),
    "not used": (sg.func.grad(lambda x, y: (x**3).sum(), argnums=(0, 1)), (x, C)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_come_back_with_all_they_know(name, tmp_path):
    f, args = PROGRAMS[name]
    program = sg.compile(f, *args).program
    found = through(program, tmp_path / "f.json")
    assert (found.source, repr(found), found.formula) == (program.source, repr(program), program.formula)
    assert str(found.cost) == str(program.cost)
    row = [leaf for a in args for leaf in sg.tape.containers.flatten(a)[0]]
    mine, structure = sg.tape.containers.flatten(program(*row))
    other, same = sg.tape.containers.flatten(found(*row))
    assert structure == same
    assert all(map(same_bits, mine, other))
    for suffix in (".py", ".c"):
        if suffix == ".c" and name in ("complex", "half precision", "indices") or "branch" in name:
            continue
        program.save(tmp_path / f"a{suffix}")
        found.save(tmp_path / f"b{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_a_loaded_program_checks_its_arguments(tmp_path):
    found = through(sg.compile(branching, x).program, tmp_path / "f.json")
    with pytest.raises(ArgumentError, match="one way through a function that looked at values"):
        found(-x)
    found = through(sg.compile(lambda A, x: A @ x, C, x).program, tmp_path / "f.json")
    with pytest.raises(ShapeError, match="has size 4 in axis 0, where A has n = 3"):
        found(C, np.ones(4))


def test_deep_programs_come_back(tmp_path):
    def deep(x):
        for _ in range(1200):
            x = x * sg.sin(x)
        return x

    program = sg.compile(deep, np.float64(0.3)).program
    assert through(program, tmp_path / "f.json")(0.3) == program(0.3)


def test_classes_are_not_named_in_files(tmp_path):
    @dataclasses.dataclass
    class Pair:
        a: object
        b: object

    with pytest.raises(CompileError, match="nested in Pair, a class that a file of data cannot name"):
        sg.compile(lambda x: Pair(x, 2 * x), x).save(tmp_path / "f.json")


# ---------------------------------------------------------------------------- damage


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "f.json"
    sg.compile(lambda x: (x.mean() * C).sum(), x).save(made)
    return made


def test_a_file_is_read_by_people(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1:4] == [' "format": "symgrad program",', ' "version": 1,', ' "name": "program",']
    assert any(line.startswith('  {"id": 0, "op": "symbol", "args": [], "params": {"name": "x"}') for line in lines)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text[: len(text) // 2], "is not JSON, or was cut off"),
        (lambda text: "", "is not JSON, or was cut off"),
        (lambda text: "[" * 100_000, "is not JSON, or was cut off"),
        (lambda text: '{"version": 1}', "is JSON, but no program"),
        (lambda text: "[1, 2]", "is JSON, but no program"),
        (lambda text: text.replace('"version": 1', '"version": 7'), "written by a newer symgrad: its version is 7"),
        (lambda text: text.replace('"version": 1', '"version": "7"'), "damaged or changed by hand"),
        (lambda text: text.replace('"sum"', '"amax"', 1), "damaged or changed by hand"),
        (lambda text: text.replace('"sha256": "', '"sha256": "0'), "damaged or changed by hand"),
        (lambda text: text.replace('"x"', "NaN"), "NaN is no number of JSON"),
    ],
    ids=[
        "cut off",
        "empty",
        "deep",
        "other JSON",
        "a list",
        "newer",
        "odd version",
        "another op",
        "another digest",
        "nan",
    ],
)
def test_damage_is_told(path, change, words):
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(CompileError, match=words):
        load(path)


def set_in(*keys):
    def change(data, value):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("name",), "f(x=print(1)):\n  pass\ndef g"),
        (("levels", 0, "name"), "a b"),
        (("nodes", 0, "params", "name"), "x, y=print(1)"),
        (("nodes", 0, "shape"), ["n); print(1"]),
        (("nodes", 0, "shape"), ["n.__class__"]),
        (("nodes", 0, "shape"), ["len(range(print(1))[::2])"]),
        (("nodes", 0, "dtype"), "object"),
        (("nodes", 0, "dtype"), "no dtype"),
        (("nodes", 1, "op"), "no such op"),
        (("nodes", 2, "op"), "symbol"),
        (("nodes", 2, "params"), {"dim": ["print(1)"], "keepdim": False}),
        (("nodes", 2, "params"), {"dim=print(1), x": [0]}),
        (("nodes", 2, "params"), {"dim": {"code": "print(1)"}}),
        (("nodes", 2, "args"), [99]),
        (("nodes", 2, "args"), [-1]),
        (("nodes", 2, "id"), 7),
        (("inputs", 0, "name"), "y"),
        (("inputs", 0, "node"), 2),
        (("constants", 0, "value", "shape"), [2, 2]),
        (("constants", 0, "value", "dtype"), "object"),
        (("levels", 0, "nesting"), {"os.system": []}),
        (("levels", 0, "results", 0, "shape"), ["print(1)"]),
        (("levels",), []),
        (("sizes",), {"print(1)": 3}),
        (("nodes",), 3),
    ],
)
def test_nothing_of_a_file_is_executed(path, place, value, capsys):
    changed(path, lambda data: set_in(*place)(data, value))
    with pytest.raises(CompileError, match="is no program that this symgrad can build"):
        load(path)
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------------- programs under derivatives


@pytest.mark.parametrize("how", ["function", "program", "loaded"])
def test_programs_are_differentiated(how, tmp_path):
    f = lambda x, A: sg.tanh(A @ x).sum()  # noqa: E731
    compiled = sg.compile(f, x, C)
    g = {"function": compiled, "program": compiled.program}.get(how) or through(compiled.program, tmp_path / "f.json")
    wanted = sg.func.grad(f)(x, C).numpy()
    np.testing.assert_allclose(sg.func.grad(g)(x, C).numpy(), wanted)
    np.testing.assert_allclose(sg.compile(sg.func.grad(lambda x, A: 2 * g(x, A)), x, C)(x, C), 2 * wanted)
    np.testing.assert_allclose(sg.func.hessian(g)(x, C).numpy(), sg.func.hessian(f)(x, C).numpy())
    np.testing.assert_allclose(sg.func.jvp(g, (x, C), (x, C))[1].numpy(), sg.func.jvp(f, (x, C), (x, C))[1].numpy())
    np.testing.assert_allclose(sg.func.vmap(g, (0, None))(np.stack([x, -x]), C).numpy(), [f(x, C), f(-x, C)])
    t = sg.tensor(x, requires_grad=True)
    (g(t, C) + (t * t).sum()).backward()
    np.testing.assert_allclose(t.grad.numpy(), wanted + 2 * x)
    assert "tanh" in sg.compile(lambda x: g(x, C), x).source
    with sg.no_grad():
        assert isinstance(g(t, C), np.float64)


def test_a_program_that_looked_is_looked_at_where_it_is_called():
    program = sg.compile(branching, x).program
    f = sg.compile(lambda x: 3 * program(x), x)
    assert f(x) == 3 * program(x)
    with pytest.raises(ArgumentError, match="looked at values"):
        f(-x)
