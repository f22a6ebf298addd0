"""Claims: what an experiment shows, repeated on draws that its author did not choose."""
