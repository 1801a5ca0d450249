"""Questions to single executions: step-time breakdown, launches, timeline, memory of ops, ranks side by side."""
