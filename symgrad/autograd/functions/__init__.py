"""Custom functions: what their forward hands out and keeps, their formulas, batches and tangents."""
