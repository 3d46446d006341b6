"""The laws that every op of the table obeys, and the samples they are tried on."""
