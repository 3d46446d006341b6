"""The reverse sweep: its entrances, and what it does with samples, folded calls, moving inputs and 0 · inf."""
