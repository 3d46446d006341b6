"""The recorded graph: nodes, recording, modes, pickling; in rooms of their own, what is done with the graph.

Recording (``record``, ``fast``) is the path that every op on tensors takes.
"""
