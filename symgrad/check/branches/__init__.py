"""Branches that the point does not enter: where they are, and the comparison there."""
