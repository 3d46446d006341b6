"""Parts of arrays: blocks, entries at places, slices and axes."""
