"""The third stage: does a statement hold on its numbers, and would a slip in it be seen?

`statements` binds a statement to numbers, compares its sides by `relations` and says which step
fails. `mutants` are its slips of the pen, `mutant_outcomes` their outcomes; `name_clashes`
and `definitions` refuse empty claims and double readings. `equation_check` does all
of this, also for an equation given as a string; its record shows itself (`records`, `badge`).
"""
