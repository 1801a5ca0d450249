"""The trace lens: single executions on threads and streams: steps, timeline, kernels, launches, memory, ranks."""
