"""Generated messages of proto/stepscope. Made by `make generate`; never edited."""
