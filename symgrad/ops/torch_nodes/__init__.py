"""What torch's graph shows for functions: names of nodes, what their rules answer, how often results are rewritten."""
