"""Values that a cell hands to the sentences of its page, without the tools that make pages.

The output that is written is the one that MyST-NB looks for, so a chapter that uses this needs
MyST-NB only where its page is made.
"""

from __future__ import annotations

from checked_equations.book.manuscripts import running_shell

__all__ = ["glue"]

_UNSHOWN = "application/papermill.record/"  # before the type of what no notebook is to show


def glue(name: str, variable: object, display: bool = True) -> None:
    """Keep what a variable displays under a name, for ``{glue:text}`` in the text of the page.

    Where no IPython runs there is no page to keep it for: then it is printed, or nothing is done.

    Parameters
    ----------
    name : str
        The name.
    variable : object
        The value; what IPython displays of it is kept.
    display : bool, default True
        If True, it is shown below the cell as well.
    """
    shell = running_shell()
    if shell is not None:
        prefix = "" if display else _UNSHOWN
        bundle, metadata = shell.display_formatter.format(variable)
        shell.display_pub.publish(  # with metadata that name it, as MyST-NB does
            data={prefix + kind: shown for kind, shown in bundle.items()},
            metadata={**metadata, "scrapbook": {"name": name, "mime_prefix": prefix}},
        )
    elif display:
        print(variable)
