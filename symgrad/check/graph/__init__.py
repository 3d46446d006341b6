"""The operations that the function recorded: their lines, their values once more, and sweeps with a change in them."""
