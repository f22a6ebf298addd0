"""In-place work on NumPy arrays, behind rooms that say what it must equal."""
