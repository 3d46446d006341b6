"""Forward mode: carriers that hold a value with its tangent, or with many."""
