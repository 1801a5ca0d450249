"""The views lens: which op, scope, line of code or graph node costs the time and memory."""
