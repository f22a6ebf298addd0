"""The fourth stage, the chapters of a book.

`markup` finds the labelled equations of a text, `prose` the relations in its sentences and
`manuscripts` the text itself; `chapter` has the verbs, `checks` makes their `records`, `phrases`
and `badge` show these, `ledger` adds them up. `settings` and `sources` are what a book tells the
engine, `packing` is for notebooks far from their book, `execution` and `checking` run the code
of pages without a builder, `baseline` lists what is not checked yet.
"""
