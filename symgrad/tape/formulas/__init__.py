"""From the tape to formulas: names, sizes, constants, where gradients came from."""
