"""Small books are built by copies of one process that has imported Sphinx, and run by others.

``python -m sphinx`` imports for a second and a half before it reads a small book, a kernel for half
a second before its first cell. On Linux `Builder` keeps a process that has imported what they do
and looked up what each of them would; each build is a copy of it. Elsewhere it starts Sphinx as
always. The interpreter, its environment and the name of the engine may be a stranger's.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import partial
from importlib import metadata
from multiprocessing import forkserver
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

EXT = Path(__file__).resolve().parents[2] / "book" / "_ext"
OF_SPHINX = (
    "sphinx.cmd.build",
    "sphinx.transforms.post_transforms.code",
    "myst_nb.sphinx_ext",
    "sqlalchemy.dialects.sqlite",
)
OF_KERNELS = (
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "warm_kernels",  # a copy begins with it, and its own path need not lead there
)


class Builder:
    """A function like `subprocess.run` for ``python -m sphinx``."""

    def __init__(
        self,
        python: str = sys.executable,
        env: dict[str, str] | None = None,
        engine: str = "checked_equations",
    ) -> None:
        self._python, self._env, self._engine = python, env, engine
        self._server: subprocess.Popen[str] | None = None

    def __call__(
        self, *arguments: str, cwd: Path, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        env = env or self._env or dict(os.environ)
        if sys.platform != "linux":
            command = [self._python, "-m", "sphinx", *arguments]
            return subprocess.run(
                command, cwd=cwd, env=env, capture_output=True, text=True, check=False
            )
        with TemporaryDirectory() as folder:
            outputs = [Path(folder, name) for name in ("stdout", "stderr")]
            code = self._ask([arguments, str(cwd), env, *map(str, outputs)])
            said = [path.read_text("utf-8") for path in outputs]
        return subprocess.CompletedProcess(arguments, code, *said)

    def _ask(self, order: list[Any]) -> int:
        if self._server is None:
            pipe = subprocess.PIPE
            command = [self._python, __file__, self._engine]
            self._server = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, text=True, env=self._env
            )
        print(json.dumps(order), file=self._server.stdin, flush=True)
        return int(self._server.stdout.readline())

    def close(self) -> None:
        """End the process that keeps the imports."""
        if self._server is not None:
            self._server.communicate()


def serve(engine: str) -> None:
    """Import what builds with this engine do, then build what each line of the input asks for."""
    sys.path[:1] = [str(EXT)]
    _look_up()
    for name in (*OF_SPHINX, f"{engine}.sphinx"):
        importlib.import_module(name)
    import warm_kernels

    _load_what_every_build_loads()
    sys.path.remove(str(EXT))
    others = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    os.environ["PYTHONPATH"] = os.pathsep.join([str(EXT), *others])  # of the kernels' server
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a kernel writes there is no answer
    imports = (*OF_KERNELS, f"{engine}.book.chapter")
    with (
        TemporaryDirectory() as templates,
        mock.patch.object(warm_kernels, "IMPORTS", imports),
        warm_kernels.warm_kernels(),
    ):
        _keep_templates(templates)
        for line in sys.stdin:
            child = os.fork()
            if child == 0:
                build(*json.loads(line))
            status = os.waitpid(child, 0)[1]
            print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def _look_up() -> None:
    """What is installed, and what a notebook is: both are kept for the copies."""
    import importlib_metadata
    from nbformat.v4 import new_notebook

    importlib_metadata.entry_points()
    found = metadata.entry_points()
    metadata.entry_points = lambda **wanted: found.select(**wanted)
    new_notebook()  # and looks whether it is one


def _load_what_every_build_loads() -> None:
    """The extensions that Sphinx sets up for every book, but for their setting up."""
    from sphinx import application

    for name in (*application.builtin_extensions, "sphinx.ext.mathjax"):
        with suppress(ImportError):
            importlib.import_module(name)


def _keep_templates(folder: str) -> None:
    """Let no copy compile what another has compiled: a third of the time of a small book."""
    from jinja2 import FileSystemBytecodeCache
    from sphinx import jinja2glue

    kept = FileSystemBytecodeCache(folder)
    jinja2glue.SandboxedEnvironment = partial(jinja2glue.SandboxedEnvironment, bytecode_cache=kept)


def build(arguments: list[str], cwd: str, env: dict[str, str], stdout: str, stderr: str) -> None:
    """Be ``python -m sphinx`` in `cwd`, and end."""
    code = 1
    try:
        for number, name in enumerate((os.devnull, stdout, stderr)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.path.insert(0, cwd)
        _share_kernels()
        from sphinx.cmd.build import main

        code = main(arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _share_kernels() -> None:
    """The kernels' server is the parent's: it runs, and a copy can neither watch nor stop it."""
    server = forkserver._forkserver
    server._forkserver_pid = None
    forkserver.ensure_running = server.ensure_running = lambda: None


if __name__ == "__main__":
    serve(sys.argv[1])
