"""What stands above every chapter that a test writes."""

MYST = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---
"""
