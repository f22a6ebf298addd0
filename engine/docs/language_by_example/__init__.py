"""What the engine reads, as a register of examples that are evaluated: one for each word and rule.

The page *The language* is made of them, and so are tests. They are no part of the engine.
"""
