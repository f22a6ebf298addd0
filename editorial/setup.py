"""What is built carries the book as it lies; an editable installation reads the book itself."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
INSIDE = Path("gpnotes_book", "book")  # where the package looks for it
OWN = HERE / "src" / INSIDE  # of a source distribution, which no book lies beside
BOOK = OWN if OWN.is_dir() else HERE.parent / "book"
CARRIED = ("equations.toml", "notation.yml", "sources/*.tsv", "_claims/**/*.json")
CARRIED += ("*.md", "[!_]*/*.md")


def carry(to: Path) -> None:
    """Copy into a folder what a chapter reads of the book."""
    shutil.rmtree(to, ignore_errors=True)  # of an earlier build
    for file in (file for pattern in CARRIED for file in BOOK.glob(pattern)):
        place = to / file.relative_to(BOOK)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


class BuildWithBook(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:
            carry(Path(self.build_lib) / INSIDE)


class SourceWithBook(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        carry(Path(base_dir, "src") / INSIDE)


setup(cmdclass={"build_py": BuildWithBook, "sdist": SourceWithBook})
