"""The backward sweep over the graph, and what it needs of nodes: siblings, dtypes, leaves that are held weakly."""
