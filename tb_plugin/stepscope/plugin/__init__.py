"""The TensorBoard plugin: loader, routes, panel files."""
