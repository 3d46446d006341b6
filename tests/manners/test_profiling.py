"""Profiler: what it records, in which order, and its table."""

from __future__ import annotations

import importlib
import json

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


def names(events) -> list:
    return [event.name.removeprefix("aten::") for event in events]


def test_profiler(t):
    """The operations inside of the block are recorded by name, and none outside."""
    x = t.ones(4, 4)
    with t.autograd.profiler.profile() as outer:
        assert outer is not None
        y = x * 2 + 4
        y.tanh()
    found = names(outer.function_events)
    for name in ("mul", "add", "tanh"):
        assert found.count(name) == 1
    assert found.index("mul") < found.index("add") < found.index("tanh")
    y.exp()
    assert "exp" not in names(outer.function_events)


def test_record_function_callbacks(t):
    """A named range is one event of that name."""
    x = t.ones(3)
    with t.autograd.profiler.profile() as prof:
        with t.autograd.profiler.record_function("only here"):
            x + x
    events = [e for e in prof.function_events if e.name == "only here"]
    assert len(events) == 1
    assert [e.count for e in prof.key_averages() if e.key == "only here"] == [1]


def test_record_function(t):
    """Nested ranges and the operations in them come in the order in which they began; a decorator names a range."""
    x = t.ones(3)

    @t.autograd.profiler.record_function("whole")
    def work(x):
        with t.autograd.profiler.record_function("part"):
            x = x * 3
        return x.sqrt()

    with t.autograd.profiler.profile() as prof, t.autograd.profiler.record_function("outer"):
        work(x)
        work(x)
    found = [n for n in names(prof.function_events) if n in ("outer", "whole", "part", "mul", "sqrt")]
    assert found == ["outer", *["whole", "part", "mul", "sqrt"] * 2]


def test_profiler_aggregation_table(t):
    """A profile as text is its table."""
    with t.autograd.profiler.profile() as prof:
        t.ones(3).exp().log()
    assert str(prof) == prof.table()
    assert "exp" in str(prof)
    assert "exp" in prof.key_averages().table(sort_by="cpu_time_total")


def test_options(t):
    """Other recorders may be asked for; a table may have a heading, and leave out what ran inside of something."""
    with t.autograd.profiler.profile(
        use_kineto=False, with_stack=False, profile_memory=False, record_shapes=True
    ) as prof:
        with t.autograd.profiler.record_function("whole"):
            t.ones(3).exp()
    table = prof.table(sort_by="self_cpu_time_total", row_limit=10, header="HEADING", top_level_events_only=True)
    assert "HEADING" in table
    assert "whole" in table
    assert "exp" not in table
    assert "exp" in prof.key_averages(group_by_input_shape=True).table(max_src_column_width=30, row_limit=-1)
    assert [(e.key, e.count) for e in prof.function_events if e.name == "whole"] == [("whole", 1)]
    with pytest.raises(TypeError):
        t.autograd.profiler.profile(unheard_of=True)


# ---------------------------------------------------------------------------------------------- torch.profiler


def kineto(t):
    return importlib.import_module(f"{t.__name__}.profiler")


def test_the_later_profiler(t):
    """torch.profiler: the same events by another name of the context, and the table that programs print."""
    room, x = kineto(t), t.ones(3, 3, requires_grad=True)
    with room.profile(activities=[room.ProfilerActivity.CPU], record_shapes=True, with_flops=False) as prof:
        with room.record_function("model"):
            (x @ x).sum().backward()
    assert "model" in prof.key_averages().table(sort_by="cpu_time_total", row_limit=5)
    assert "model" in names(prof.events())


PLANS = {
    "once": {"wait": 1, "warmup": 1, "active": 2, "repeat": 1},
    "for ever": {"wait": 0, "warmup": 1, "active": 1},
    "late": {"wait": 1, "warmup": 0, "active": 1, "repeat": 2, "skip_first": 2},
    "at once": {"wait": 2, "warmup": 0, "active": 1, "repeat": 2, "skip_first_wait": 1},
}


@pytest.mark.parametrize("plan", PLANS)
def test_plans_of_steps(t, plan):
    told = {
        "once": "NONE WARMUP RECORD RECORD_AND_SAVE NONE NONE NONE NONE",
        "for ever": "WARMUP RECORD_AND_SAVE WARMUP RECORD_AND_SAVE WARMUP RECORD_AND_SAVE WARMUP RECORD_AND_SAVE",
        "late": "NONE NONE NONE RECORD_AND_SAVE NONE RECORD_AND_SAVE NONE NONE",
        "at once": "RECORD_AND_SAVE NONE NONE RECORD_AND_SAVE NONE NONE NONE NONE",
    }
    action = kineto(t).schedule(**PLANS[plan])
    assert [action(step).name for step in range(8)] == told[plan].split()


def test_rounds_of_steps(t):
    """After every round its own events are told, and only those."""
    room, rounds = kineto(t), []

    def told(prof):
        rounds.append((prof.step_num, {row.key.removeprefix("aten::") for row in prof.key_averages()} & WORK))

    works = ("sin", "cos", "tan", "exp", "tanh", "sqrt")
    WORK = set(works)
    plan = room.schedule(wait=1, warmup=0, active=2, repeat=2)
    with room.profile(activities=[room.ProfilerActivity.CPU], schedule=plan, on_trace_ready=told) as prof:
        for work in works:
            getattr(t, work)(t.ones(2))
            prof.step()
    assert rounds == [(3, {"cos", "tan"}), (6, {"tanh", "sqrt"})]


def test_time_lines_of_rounds_are_files(t, tmp_path):
    room = kineto(t)
    handler = room.tensorboard_trace_handler(str(tmp_path))
    with room.profile(activities=[room.ProfilerActivity.CPU], on_trace_ready=handler):
        t.ones(2).sin()
    (file,) = tmp_path.iterdir()
    assert file.name.endswith(".pt.trace.json")
    assert "traceEvents" in json.loads(file.read_text(encoding="utf-8"))


def test_plans_without_a_step_are_refused(t):
    with pytest.raises((AssertionError, ValueError), match="Invalid profiler schedule arguments"):
        kineto(t).schedule(wait=1, warmup=1, active=0)
