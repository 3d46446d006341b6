"""What rules are written with: exact constants, conventions at kinks, slopes, stacks, and the undoing of broadcasts."""
