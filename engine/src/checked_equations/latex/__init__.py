"""The first stage, from LaTeX to a tree and back.

In the order of the way: `tokenizer` (pieces, one spelling for like forms), `names` (which
tokens are a bound name), `lexer` (the terminals of ``grammar.lark``), `parser_tables` (the parser's
tables, which processes share), `parser`, `builder` (the grammar's rules as nodes of `tree`, which
has the binary operators, too). `printer` writes a tree as LaTeX.
"""
