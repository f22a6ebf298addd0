"""Files that `save` wrote, changed by hand in their description or their arrays."""

from __future__ import annotations

import json

import numpy as np


def changed(path, change):
    """The file at `path` after `change` of its description and of its arrays by name."""
    with np.load(path) as file:
        parts = dict(file)
    told = json.loads(str(parts["description"]))
    change(told["values"], parts)
    with path.open("wb") as file:
        np.savez(file, **(parts | {"description": np.asarray(json.dumps(told))}))


def posterior_of(values):
    return values["posterior_"]["fields"]


def of_array(place, make):
    """A change of the array at `place` in the posterior."""

    def change(values, parts):
        told = posterior_of(values)
        for name in place.split("."):
            told = told["fields"][name] if "fields" in told else told[name]
        parts[told["array"]] = make(parts[told["array"]])

    return change


def of_value(name, value):
    def change(values, parts):
        values[name] = value

    return change
