"""What a program did with values, beside computing: looks, reads, branches, tensors captured from outside."""
