"""Claims: the finding of an experiment, repeated on draws that its author did not choose."""
