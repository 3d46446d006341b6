"""Profiler: what it records, in which order, and its table."""

from __future__ import annotations

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
