"""Foreign files: one module per format, each from a path to records."""
