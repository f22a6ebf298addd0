"""Does a statement hold on its numbers, and would a slip in it be seen: steps, mutants, routes."""
