"""Pure analysis: a record and options go in, a result comes out. No I/O, no state, no TensorBoard."""
