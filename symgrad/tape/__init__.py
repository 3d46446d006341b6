"""The recorded graph: nodes, recording, the backward sweep, modes, names, and the way to formulas."""
