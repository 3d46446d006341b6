"""Over axes: sums, products, extremes, truth values, softmax, and running results."""
