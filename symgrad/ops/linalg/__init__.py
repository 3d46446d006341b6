"""Matrices: contractions, products, inverses, decompositions, functions of matrices, systems of equations."""
