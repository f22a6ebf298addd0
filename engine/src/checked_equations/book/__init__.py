"""The fourth stage, the chapters of a book.

`markup` finds the labelled equations of a text, `prose` the mathematics of its sentences,
`manuscripts` the text itself, or the page that a package carries (`carried_pages`); `chapter` has
the verbs, which leave `records`, `ledger` adds them up, `chapter_badges` shows it and the claims.
`settings` are those that a book gives the engine, `execution` runs pages without a builder.
"""
