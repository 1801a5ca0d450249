"""The Python API: open sources, choose records, analyze, compare, cache and import."""
