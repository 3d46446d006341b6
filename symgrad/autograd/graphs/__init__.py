"""What is seen of the graph and hung upon it: hooks, saved values, torch's names for nodes and versions."""
