"""From a tree to numbers: values, operations, and one small rule a node."""
