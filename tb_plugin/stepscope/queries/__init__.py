"""What one can ask: open, options, windows, compare, cache."""
