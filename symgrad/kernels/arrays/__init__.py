"""NumPy kernels of whole arrays: their memory, places, order, products and reductions."""
