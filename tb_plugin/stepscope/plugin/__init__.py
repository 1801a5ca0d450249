"""The TensorBoard plugin: loader, routes, panel files.

TensorBoard imports the loader in every process, also where nobody logs anything: this package imports nothing heavy,
and nothing in it raises at import.
"""
