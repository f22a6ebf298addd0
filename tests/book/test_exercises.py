"""Every chapter has six to ten exercises: with title, grade and solution, and the last is open."""

import re

import pytest
from claim_words import BOOK, chapters

EXERCISE = re.compile(r"^```\{exercise\}(.*)\n:label: (\S+)\n\s*(.*)", re.M)
SOLUTION = re.compile(r"\{solution-start\} (\S+)\n:class: dropdown$", re.M)
GRADE = re.compile(r"\*(Pencil|Short code|Pencil and short code|Project|Open)\.\* ")


def lacking(text: str) -> list[str]:
    """What the exercises of a page lack."""
    exercises, solved = EXERCISE.findall(text), SOLUTION.findall(text)
    grades = [GRADE.match(asked) for _, _, asked in exercises]
    open_ones = [label for _, label, asked in exercises if asked.startswith("*Open.*")]
    faults = {
        f"six to ten, not {len(exercises)}": not 6 <= len(exercises) <= 10,
        "a title": not all(title.strip() for title, _, _ in exercises),
        "a grade": None in grades,
        "a folded solution for each, in their order": solved != [one[1] for one in exercises],
        "one that is open, at the end": open_ones != [one[1] for one in exercises][-1:],
    }
    return [fault for fault, found in faults.items() if found]


@pytest.mark.parametrize("slug", chapters())
def test_a_chapter_lacks_none(slug):
    assert lacking((BOOK / f"{slug}.md").read_text("utf-8")) == []


def written(title: str, grade: str, label: str) -> str:
    exercise = f"```{{exercise}} {title}\n:label: {label}\n\n*{grade}.* Why?\n```\n"
    return f"{exercise}\n````{{solution-start}} {label}\n:class: dropdown\n````\nSo.\n"


SIX = [("A title", "Open" if i == 5 else "Pencil", f"ex-{i}") for i in range(6)]


@pytest.mark.parametrize(
    ("one", "instead", "fault"),
    [
        (0, ("", "Pencil", "ex-0"), "a title"),
        (0, ("A title", "Hard", "ex-0"), "a grade"),
        (0, ("A title", "Open", "ex-0"), "one that is open, at the end"),
        (5, ("A title", "Project", "ex-5"), "one that is open, at the end"),
    ],
)
def test_what_an_exercise_lacks_is_found(one, instead, fault):
    assert lacking("\n".join(written(*each) for each in SIX)) == []
    changed = [instead if i == one else each for i, each in enumerate(SIX)]
    assert lacking("\n".join(written(*each) for each in changed)) == [fault]


def test_too_few_and_what_is_unsolved_are_found():
    text = "\n".join(written(*each) for each in SIX[1:])
    assert lacking(text) == ["six to ten, not 5"]
    unsolved = "\n".join(written(*each) for each in SIX).replace("{solution-start} ex-2", "")
    assert lacking(unsolved) == ["a folded solution for each, in their order"]
