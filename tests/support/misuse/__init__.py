"""Wrong calls of every public function: what is tried, and what counts as an answer to it.

`kinds` holds what can be wrong with an argument of a kind, `calls` one right call of each public
function with the kind of each argument, and `answers` what became of a wrong call.
"""
