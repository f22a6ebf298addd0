"""From LaTeX to a tree: scanner, tokens, names, lexer, grammar, parser, tree; and back again."""
