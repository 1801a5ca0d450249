"""StepScope for TensorBoard."""
