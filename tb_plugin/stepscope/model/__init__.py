"""The records as numpy columns: what they mean, how they are checked, encoded and decoded. No I/O."""
