"""Formulas as they were printed and as they were corrected, and numbers for their symbols."""
