"""From a wrong derivative to the mistake: hypotheses, each with what it would have made of the exact one."""
