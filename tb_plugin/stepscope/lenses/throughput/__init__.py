"""The throughput lens: how fast the run is, on average and right now."""
