"""Jupyter Book's own build command, less a second of its start-up: ``python book/_ext/build.py``.

On import, jsonschema compiles 38 grammars of internationalised addresses if it finds the package
that has them. Jupyter Book validates no such address, and jsonschema does without. And the trees of
the pages stay until the end, so that Python's search for what nobody needs seldom finds anything;
nor need anybody take them apart when all is written, which was a sixth of the time.
For each list and each directive docutils makes a machine of fourteen states, and for each of these
it looks its patterns up: a tenth of the time in which Sphinx reads and writes the pages.
Each page is gone through a hundred times in search of nodes, where a generator below a generator
hands on what it finds from level to level. Autodoc reads each module twice. And each of ten
thousand cells and outputs is held against nbformat's schema when it is made. YAML has a parser in
C, which takes a tenth of the time.
"""

import atexit
import gc
import os
import sys
from pathlib import Path

import yaml


class Steps(dict):
    """What a state of docutils may do with a line, by name: made when it is first looked for."""

    def __init__(self, state, known):
        super().__init__()
        self.state, self.known = state, known

    def __missing__(self, name):
        pattern, after = self.known[name]
        self[name] = step = (pattern, getattr(self.state, name), after)
        return step


def look_patterns_up_once():
    """Let a state of docutils take its patterns from the first of its class."""
    from docutils.statemachine import StateWS

    known, slowly = {}, StateWS.add_initial_transitions

    def add_initial_transitions(state):
        if type(state) not in known:
            slowly(state)
            steps = {
                name: (pattern, after) for name, (pattern, _, after) in state.transitions.items()
            }
            known[type(state)] = state.transition_order, steps
        order, steps = known[type(state)]
        state.transition_order, state.transitions = order[:], Steps(state, steps)

    StateWS.add_initial_transitions = add_initial_transitions


def below(node, kind):
    """A node and all nodes below it, in their order, if they are of a kind."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, kind):
            yield here
        if here.children:
            waiting += here.children[::-1]


def search_pages_flat():
    """Let docutils look for nodes in one loop, where it is asked for those below a node."""
    from docutils.nodes import Node

    otherwise = Node.findall

    def findall(
        self, condition=None, include_self=True, descend=True, siblings=False, ascend=False
    ):
        if not (include_self and descend) or siblings or ascend:
            return otherwise(self, condition, include_self, descend, siblings, ascend)
        if isinstance(condition, type):
            return below(self, condition)
        return filter(condition, below(self, Node)) if condition else below(self, Node)

    Node.findall = findall


def read_comments_alone():
    """Let autodoc look for comments in a module, and not for the lines of its definitions.

    It reads each module twice; of the lines it makes nothing, since no page links to its source.
    """
    from sphinx.pycode.parser import Parser

    Parser.parse_definition = lambda self: None  # whose table stays empty


def leave_cells_unchecked():
    """Hold nbformat's schema against a whole notebook, and not against each cell as well."""
    from nbformat.v4 import nbbase

    nbbase.validate = lambda node, ref=None: None


def leave(status):
    """End here and now, with what others want done at the end."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.modules["rfc3987_syntax"] = None  # as if it were not installed
    gc.set_threshold(200_000, 20, 50)
    yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    look_patterns_up_once()
    search_pages_flat()
    read_comments_alone()
    leave_cells_unchecked()
    from jupyter_book.cli.main import main

    root = Path(__file__).resolve().parents[2]
    quiet = ["-q"] if os.environ.get("CI") else []  # 1500 lines of progress that nobody watches
    try:
        main(["build", str(root), "-W", "--keep-going", "-n", *quiet, *sys.argv[1:]])
    except SystemExit as end:
        leave(end.code or 0)
