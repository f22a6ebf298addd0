"""LaTeX sources of papers: their files joined, their commands, their displays with places."""
