"""Random numbers as torch's generator gives them."""
