"""The fourth stage, the chapters of a book.

`markup` finds the labelled equations of a text, `prose` what its sentences say,
`manuscripts` the text itself; `chapter` has the verbs, which leave `records`, `ledger` adds them
up, `chapter_badges` shows it and the claims. `settings` are what a book tells the engine, `packing`
is for notebooks far from it, `execution` runs pages without a builder.
"""
