"""Decisions in a row."""
