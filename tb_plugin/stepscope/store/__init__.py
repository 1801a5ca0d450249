"""Records in event files: writing them, and reading them back."""
