"""The profiler: counts of forward and backward, kinds of work, blocks, traces; nothing left behind."""

from __future__ import annotations

import json
import threading

import pytest

import symgrad as sg
from symgrad.autograd.profiler import profile, record_function
from symgrad.tape import record
from symgrad.timing import TIMERS


def program(x):
    y = (x * x).tanh() + x * 2
    y.sum().backward()
    return y


def counts(prof, phase):
    return {row.key: row.count for row in prof.key_averages() if row.phase == phase}


def test_counts_of_forward_and_backward():
    x = sg.ones(3, requires_grad=True)
    with profile() as prof:
        program(x)
    assert counts(prof, "forward") == {"mul": 2, "tanh": 1, "add": 1, "sum": 1}
    assert counts(prof, "backward") == {
        "SumBackward0": 1, "AddBackward0": 1, "TanhBackward0": 1, "MulBackward0": 2, "AccumulateGrad": 1,
    }  # fmt: skip


def test_operations_without_gradients_count_too():
    x = sg.ones(3)
    with profile() as prof:
        x.exp()
        with sg.no_grad():
            sg.ones(2, requires_grad=True).sin()
    assert counts(prof, "forward") == {"exp": 1, "sin": 1}


def test_values_are_the_same_and_nothing_stays():
    apply = record.apply
    x, y = (sg.tensor([0.3, -1.2], requires_grad=True) for _ in range(2))
    program(x)
    with profile():
        assert record.apply is not apply
        program(y)
    assert x.grad.tolist() == y.grad.tolist()
    assert record.apply is apply
    assert not TIMERS
    with profile() as prof:
        pass
    program(x)
    assert len(prof.function_events) == 0


def test_profile_ends_with_an_error():
    apply = record.apply
    with pytest.raises(ZeroDivisionError), profile():
        raise ZeroDivisionError
    assert record.apply is apply


def test_kinds_of_work():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    with profile() as prof:
        str((x * x).sum().expr)
        sg.compile((x * x).sum())
    assert {row.kind for row in prof.key_averages()} == {"numeric", "symbolic", "codegen"}
    assert "symbolic:" in prof.key_averages().table()


def test_table():
    x = sg.ones(3, requires_grad=True)
    with profile(record_shapes=True) as prof:
        program(x)
        x.sin()
    rows = prof.key_averages().table(sort_by="count", row_limit=2).splitlines()
    assert len([r for r in rows if "numeric " in r]) == 2
    assert rows[-2].startswith("Self CPU time total:")
    with pytest.raises(ValueError, match="cannot sort by 'speed'"):
        prof.key_averages().table(sort_by="speed")
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert {r.input_shapes for r in by_shape if r.key == "sin"} == {((3,),)}
    total = prof.total_average()
    assert total.self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)
    assert total.count == len(prof.function_events)


def test_self_time_leaves_out_what_is_inside():
    with profile() as prof, record_function("block"):
        sg.ones(3).exp()
    block, inner = prof.function_events
    assert (block.name, block.kind, inner.name) == ("block", "user", "exp")
    assert block.self_cpu_time_total == pytest.approx(block.cpu_time_total - inner.cpu_time_total)


def test_record_function_as_decorator():
    @record_function("named")
    def f():
        return sg.ones(2)

    f()
    with profile() as prof:
        f()
    assert [row.key for row in prof.key_averages()] == ["named"]


def test_chrome_trace(tmp_path):
    with profile() as prof:
        program(sg.ones(3, requires_grad=True))
    prof.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == len(prof.function_events)
    assert {"name", "ph", "ts", "dur", "pid", "tid"} <= set(events[0])
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)


def test_nested_profiles_and_threads():
    with profile() as outer:
        with profile() as inner:
            sg.ones(2).exp()
        worker = threading.Thread(target=lambda: sg.ones(2).sin())
        worker.start()
        worker.join()
    assert counts(inner, "forward") == {"exp": 1}
    assert counts(outer, "forward") == {"exp": 1, "sin": 1}
    with pytest.raises(RuntimeError, match="not reentrant"), inner:
        pass


def test_disabled():
    with profile(enabled=False) as prof:
        sg.ones(2).exp()
    with pytest.raises(RuntimeError, match="didn't finish"):
        prof.key_averages()
