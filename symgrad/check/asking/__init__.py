"""What is asked: a function, its derivative and the point, of any library and in any container, and how they run."""
