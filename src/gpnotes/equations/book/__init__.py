"""The chapters of a book: their text, what was checked in it, its records and their sums."""
