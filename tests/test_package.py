"""The front door: every public name, loaded when it is first used."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import gpnotes

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", gpnotes.__all__)
def test_every_public_name_is_there(name):
    assert getattr(gpnotes, name).__doc__
    assert name in dir(gpnotes)


def test_a_type_checker_sees_the_same_names_from_the_same_rooms():
    module = ast.parse(Path(gpnotes.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in module.body if isinstance(node, ast.If))
    wings, *homes = block.body
    declared = {node.module: sorted(name.name for name in node.names) for node in homes}
    assert declared == {room: sorted(names) for room, names in gpnotes._HOMES.items()}
    assert tuple(name.name for name in wings.names) == gpnotes._WINGS


def test_every_wing_is_an_attribute():
    """As soon as it is asked for, with nothing imported but the package."""
    folder = Path(gpnotes.__file__).parent
    wings = {path.stem for path in folder.iterdir() if (path / "__init__.py").is_file()}
    wings |= {path.stem for path in folder.glob("[!_]*.py")}
    assert {"infer", "mdp", "plot"} < wings == set(gpnotes._WINGS)
    # in the place of one of them nothing, or scikit-learn would be imported for seconds
    code = f"""
import json, sys, types, gpnotes
sys.modules["gpnotes.estimators"] = types.ModuleType("gpnotes.estimators")
print(json.dumps([getattr(gpnotes, name).__name__ for name in {sorted(wings)}]))
"""
    assert fresh(code) == [f"gpnotes.{name}" for name in sorted(wings)]


WINGS = ("assess", "decide", "draw", "fast", "ground", "infer", "model")


def rooms_of(wing):
    """The rooms of a wing, which `dir` has and a type checker is told."""
    home = importlib.import_module(f"gpnotes.{wing}")
    folder = Path(home.__file__).parent
    rooms = {path.stem for path in folder.glob("[!_]*.py")}
    rooms |= {path.parent.name for path in folder.glob("*/__init__.py")}
    module = ast.parse(Path(home.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in module.body if isinstance(node, ast.If))
    assert {name.name for name in block.body[0].names} == rooms <= set(dir(home))
    return rooms


def test_every_room_of_a_wing_is_an_attribute():
    """It loads when it is asked for."""
    rooms = sorted(f"{wing}.{room}" for wing in WINGS for room in rooms_of(wing))
    code = f"""
import json, operator, gpnotes
print(json.dumps([operator.attrgetter(name)(gpnotes).__name__ for name in {rooms}]))
"""
    assert fresh(code) == [f"gpnotes.{name}" for name in rooms]


MODELS = (
    "BayesianLinear", "BayesianNetwork", "DeepGP", "EPGP", "FeatureGP", "GP",
    "HeteroscedasticGP", "LaplaceGP", "SVGP", "SoftmaxGP", "SparseGP", "StateSpaceGP",
)  # fmt: skip
ESTIMATORS = {"BayesSearchCV", "GPClassifier", "GPRegressor", "MultiOutputGPRegressor"}


def test_a_first_look_finds_the_models_the_estimators_and_what_to_do_with_them():
    assert {*MODELS, *ESTIMATORS, "condition", "fit", "minimise"} < set(dir(gpnotes))
    assert all(inspect.isclass(getattr(gpnotes, name)) for name in (*MODELS, *ESTIMATORS))


def test_without_scikit_learn_all_is_there_but_the_estimators():
    """`help` asks for each name that `dir` has."""
    code = """
import inspect, json, sys
sys.modules["sklearn"] = None  # as if it were not installed
import gpnotes
print(json.dumps([name for name, _ in inspect.getmembers(gpnotes)]))
"""
    assert set(dir(gpnotes)) - set(fresh(code)) == ESTIMATORS | {"estimators"}
    assert not ESTIMATORS & set(gpnotes.__all__)  # a star asks for each of these


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'gpnotes' has no attribute 'Kriging'"):
        _ = gpnotes.Kriging
    with pytest.raises(AttributeError, match=r"module 'gpnotes\.infer' has no attribute 'kriging'"):
        _ = gpnotes.infer.kriging


def fresh(code, *arguments):
    """What a new interpreter prints, as JSON."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_importing_loads_neither_scipy_nor_matplotlib():
    code = """
import json, sys, gpnotes
names = [getattr(gpnotes, name) for name in gpnotes.__all__]
heavy = ("scipy", "matplotlib", "cupy", "IPython", "sphinx", "sklearn")
print(json.dumps([name for name in heavy if name in sys.modules]))
"""
    assert fresh(code) == []


def test_in_a_browser_there_are_neither_threads_nor_greenlets():
    """WebAssembly has none of them, and the answers are the same up to rounding."""
    code = """
import json, sys, threading
if sys.argv[1:] != ["as ever"]:
    sys.modules["greenlet"] = None
    def start(thread):
        raise RuntimeError("can't start new thread")
    threading.Thread.start = start
import numpy as np
from gpnotes import GP, RBF, condition, fit, samplers, stream
from gpnotes.decide.bayesopt import minimise
X = stream(1).uniform((30, 2))
y = np.sin(5.0 * X[:, 0]) + X[:, 1]
model = fit(GP(RBF(1.0, [0.5, 0.5]), 0.1), X, y).model
chain = samplers.sample(lambda x: (-0.5 * float(x @ x), -x), samplers.NUTS(), np.zeros(2),
                        rng=stream(1), num_samples=5, num_warmup=5)
found = minimise(lambda x: float((x - 0.3) @ (x - 0.3)), [(0, 1), (0, 1)], 7, rng=1)
means = condition(model, X, y).predict(X[:3])[0]
print(json.dumps([*means, *found.best.x, *chain.draws[-1, -1]]))
"""
    np.testing.assert_allclose(fresh(code), fresh(code, "as ever"), rtol=1e-5)


def shown():
    """The public names of the modules on the pages of the API, and what they are."""
    pages = (ROOT / "book" / "api").glob("*.md")
    text = "".join(page.read_text("utf-8") for page in pages)
    found = {}
    for module, given in re.findall(r"^\.\. objects:: (\S+)\n((?: +:.*\n)*)", text, re.MULTILINE):
        home = importlib.import_module(module)
        named = re.search(r":members: (.+)", given)
        names = named[1].split(", ") if named else home.__all__
        found |= {name: getattr(home, name) for name in names}
    return found


ROOMS = (
    "", ".assess.calibration", ".assess.crossval", ".assess.scores", ".decide.bayesopt",
    ".decide.design",
    ".decide.fantasy", ".games", ".decide.moments", ".decide.pilco", ".draw.grids",
    ".draw.paths", ".estimators", ".ground.chunks", ".infer.deep", ".infer.features",
    ".infer.linear_smoother", ".infer.sparse",
)  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_the_pages_of_the_api_hold_every_public_name(room):
    """A class that moves to another module takes its place on the page with it."""
    home = importlib.import_module(f"gpnotes{room}")
    names = {name for name in home.__all__ if not inspect.ismodule(getattr(home, name))}
    assert names - set(shown()) == set()


def test_no_property_has_a_type_by_mistake():
    """Sphinx takes what stands before the first colon of such a line for one."""
    public = [thing for thing in shown().values() if inspect.isclass(thing)]
    properties = [
        (thing.__name__, name, value.__doc__.split("\n")[0])
        for thing in public for name, value in vars(thing).items()
        if isinstance(value, property | cached_property) and value.__doc__
    ]  # fmt: skip
    assert len(properties) > 20
    wrong = [said for said in properties if re.search(r": ", re.sub("``.*?``", "", said[2]))]
    assert wrong == []
