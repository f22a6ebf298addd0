"""From the parser's tree to the nodes of an equation: one small method a rule of the grammar."""
