"""Logs and tables of other tools that hold rates: one module per format."""
