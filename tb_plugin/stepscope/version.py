"""The version of StepScope."""

__version__ = "0.1.0"
