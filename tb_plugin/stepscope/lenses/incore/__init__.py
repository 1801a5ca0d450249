"""The in-core lens: which phase inside one fused kernel is long."""
