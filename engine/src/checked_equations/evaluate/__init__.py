"""The second stage, from a tree to numbers.

`values` says what may be bound, `operations` what is done to scalars, columns and matrices,
`rules` has one small function for each kind of node, and `evaluator` asks them and remembers.
"""
