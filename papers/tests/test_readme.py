"""The README of the plug-in says what is so."""

import re
from pathlib import Path

from checked_equations.__main__ import main

README = Path(__file__).parents[1] / "README.md"


def test_its_paper_is_tried_as_it_says(tmp_path, monkeypatch, capsys):
    text = README.read_text(encoding="utf-8")
    latex, said = (re.search(f"```{kind}\n(.*?)```", text, re.S)[1] for kind in ("latex", "text"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "paper.tex").write_text(latex, encoding="utf-8")
    assert main(["check", "paper.tex"]) == 1
    assert capsys.readouterr().out == said


def test_what_it_links_is_there():
    linked = re.findall(r"\]\(([^):]+)\)", README.read_text(encoding="utf-8"))
    assert len(linked) >= 4
    assert all((README.parent / name).is_file() for name in linked)
