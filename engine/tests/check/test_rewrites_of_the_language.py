"""Each mutant is an edit of the text of its equation, which then reads as the mutant does."""

import pytest
from corpus import REWRITTEN


@pytest.mark.parametrize("example", REWRITTEN, ids=lambda example: example.latex)
def test_the_text_of_a_mutant_is_another_statement(example):
    latex, record = example.latex, example.record()
    changed = [mutant for mutant in record.mutants.write() if mutant.changed]
    assert changed
    texts = {f"{latex[: m.changed[0]]}{m.changed[2]}{latex[m.changed[1] :]}" for m in changed}
    assert latex not in texts
    assert len(texts) >= 0.5 * len(changed)
    for mutant in changed:
        start, end = mutant.place
        assert 0 <= start < end <= len(latex)
