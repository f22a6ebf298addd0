"""From LaTeX to the words of the grammar, given the names that are bound."""
