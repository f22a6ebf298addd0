"""The third stage: does a statement hold on its numbers, and would a slip in it be seen?

`statements` binds a statement to numbers and compares its sides by `relations`; `steps` says which
step fails. `edits` are the slips of one node, `mutants` those of a
statement, `mutant_outcomes` what becomes of them. `definitions`, `conditions` and `name_clashes`
refuse what says nothing or could be read in two ways.
"""
