"""Rules over lens results: ranked findings with evidence."""
