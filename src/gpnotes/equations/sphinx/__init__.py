"""The Sphinx extension: what executed notebooks say about their equations, on the pages."""


def setup(app):
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
