"""The stage of papers: displays that nobody bound are tried, one verdict each, and reported.

A verdict says what it rests on: *checked* on numbers that came by a route of their own, *tried* on
numbers that were drawn for the printed symbols, *a definition*, or *not read*.
"""
