"""The check checked: random programs with gradients by hand, and mistakes made in them on purpose."""
