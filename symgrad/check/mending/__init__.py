"""Looking for one small change in the text of a gradient that makes it right, by running it with that change."""
