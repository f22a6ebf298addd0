"""The fourth stage, the chapters of a book.

`markup` finds the labelled equations of a text, `prose` what its sentences say,
`manuscripts` the text itself; `chapter` has the verbs, `checks` makes their `records`, `phrases`
and `badge` show these, `ledger` adds them up. `settings` are what a book tells the engine,
`packing` is for notebooks far from it, `execution` runs pages without a builder.
"""
