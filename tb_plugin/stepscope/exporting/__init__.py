"""Results as csv, json, text, pprof and Chrome traces."""
