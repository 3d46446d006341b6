"""What ``gradcheck`` compares with what."""
