"""The dcn lens: which cross-slice collective stalls the accelerator."""
