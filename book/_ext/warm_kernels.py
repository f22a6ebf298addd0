"""Kernels that are born with their imports: forked from one process that has made them.

A chapter's kernel imports for two seconds before its first cell, and there are thirty chapters. On
Linux `multiprocessing` keeps a process that has imported what nearly all of them do, and has done
nothing else: it has no threads, no sockets and no figure. Each kernel is a copy of it. Elsewhere,
and on a GPU, whose state no copy can share, kernels start as they always do.
"""

import gc
import multiprocessing
import os
import sys
from contextlib import contextmanager
from multiprocessing import forkserver
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
IMPORTS = (
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "matplotlib.pyplot",
    "scipy.integrate",
    "scipy.stats",
    "checked_equations.book.chapter",
    "gpnotes",
    "gpnotes.infer.exact",
    "gpnotes.infer.fitting",
    "gpnotes.model.kernels",
    "gpnotes.plot",
    "gpnotes_book",
)


class Forked:
    """A kernel's process, with what `subprocess.Popen` offers of it."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self._process = process
        self.pid = process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self):
        """Return the exit status, or None while it runs."""
        return self._process.exitcode

    def wait(self):
        """Return the exit status, once there is one."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number):
        """Send a signal to this process alone."""
        os.kill(self.pid, number)


def serve(arguments, env, folder, begun):
    """Be a kernel: what the interpreter that it stands for would find."""
    os.setsid()  # a group of its own, which whoever ends the kernel ends
    begun.send(True)
    gc.freeze()  # what was imported is no garbage, and a tenth of the time went into looking
    gc.set_threshold(50_000, 20, 50)
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    from ipykernel.kernelapp import IPKernelApp

    # Once the process that it is a copy of has gone, so does the kernel.
    sys.argv = ["ipykernel_launcher", *arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]
    IPKernelApp.launch_instance()


@contextmanager
def warm_kernels():
    """Fork the kernels of this process that are called as `python -m`, within the context."""
    if sys.platform != "linux" or os.environ.get("GPNOTES_BACKEND", "numpy") != "numpy":
        yield
        return
    from jupyter_client.provisioning import local_provisioner

    cold = local_provisioner.launch_kernel
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTS))

    def launch(command, env=None, cwd=None, **options):
        if command[1:3] != ["-m", "ipykernel_launcher"]:
            return cold(command, env=env, cwd=cwd, **options)
        begun, begins = context.Pipe(duplex=False)
        process = context.Process(
            target=serve, args=(command[3:], env or dict(os.environ), cwd or os.getcwd(), begins)
        )
        process.start()
        begins.close()  # or a kernel that dies before it says so would be waited for
        begun.recv()
        return Forked(process)

    settings = {  # a kernel sets the first; no debugger will look for its files
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    with mock.patch.dict(os.environ, settings):
        forkserver.ensure_running()
    try:
        with mock.patch.object(local_provisioner, "launch_kernel", launch):
            yield
    finally:
        forkserver._forkserver._stop()  # and waits: what the kernels took is then known to be ours
