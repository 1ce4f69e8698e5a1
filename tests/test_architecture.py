"""Who may import whom, and what must never be found in the repository."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradlab

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gradlab"
MODULES = sorted(PACKAGE.rglob("*.py"))
PROGRAMS = sorted({*MODULES, *ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/*.py"), ROOT / "bootstrap.py"})

# the parts of gradlab, and which other parts each may import; only the command line sees everything
MAY_IMPORT = {
    "look": set(),
    "plots": {"look"},
    "instruments": {"plots"},
    "materials": {"plots"},
    "exercises": {"instruments", "materials", "plots"},
    "course": {"exercises", "instruments", "materials", "plots"},
    "grading": {"exercises", "instruments", "materials", "plots"},
    "terminal": {"course"},
}


def name(path):
    return str(path.relative_to(ROOT))


def part_of(module):
    """The part of gradlab that a dotted module name belongs to; a public name of the package stands for its home."""
    parts = module.split(".")
    if len(parts) == 1:
        return "gradlab"
    return gradlab._HOME.get(parts[1], module).split(".")[1]


def imported(tree):
    """Every module that a file imports, anywhere in it: ``from a import b`` counts as ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute: where a name comes from can be read off"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_imports_only_the_parts_it_may(path):
    own = part_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    if own in ("cli", "__init__"):
        return
    others = {part_of(module) for module in imported(parsed(path)) if module.split(".")[0] == "gradlab"}
    # the package itself, by name, is its version and its place: everybody may know those
    assert others - {own, "gradlab"} <= MAY_IMPORT[own]


def test_the_rule_itself_sees_an_arrow_that_goes_up():
    tree = ast.parse("def f():\n    from gradlab.course import build\n    from gradlab import check, plots")
    assert [part_of(module) for module in imported(tree)] == ["course", "exercises", "plots"]


def test_every_public_name_has_a_home():
    for module in set(gradlab._HOME.values()):
        assert importlib.util.find_spec(module) is not None, module
    assert set(gradlab.__all__) == set(gradlab._HOME)
    with pytest.raises(AttributeError, match=r"its names are: .*gradcheck"):
        gradlab.no_such_name  # noqa: B018


@pytest.mark.parametrize("path", sorted(set(PACKAGE.rglob("__init__.py")) - {PACKAGE / "__init__.py"}), ids=name)
def test_a_package_below_the_top_hands_nothing_on(path):
    assert all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in parsed(path).body)


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_a_module_opens_by_saying_what_it_is_for(path):
    assert ast.get_docstring(parsed(path)), f"{name(path)} has no docstring"


# the modules that stand on private parts of TensorFlow; tests of their own say what a release has moved
GROUND = {PACKAGE / "instruments" / "doctor" / "ground.py"}


def private_parts(tree):
    """The private modules of TensorFlow and Keras that a file imports, by a statement or by their dotted names."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in [*imported(tree), *texts] if re.match(r"(tensorflow\.python|keras\.src)\b", text)]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_private_parts_of_tensorflow_and_keras_are_touched_only_in_the_module_for_it(path):
    assert bool(private_parts(parsed(path))) == (path in GROUND)


def test_the_rule_itself_sees_private_parts():
    tree = ast.parse("from tensorflow.python.eager import record\nload('keras.src.losses')\nimport tensorflow as tf")
    assert private_parts(tree) == ["tensorflow.python.eager.record", "keras.src.losses"]


@pytest.mark.parametrize("module", ["gradlab", "gradlab.cli"])
def test_importing_the_package_or_its_command_imports_nothing_heavy(module):
    heavy = "tensorflow", "keras", "numpy", "matplotlib", "sklearn", "IPython"
    program = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def tracked():
    """The files that git knows; in a copy without git, all that isn't made by a tool."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [ROOT / path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]
    made = {".venv", "workbook", "__pycache__", ".git"}
    return [path for path in ROOT.rglob("*") if path.is_file() and not made & set(path.relative_to(ROOT).parts)]


def words(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_file_holds_a_path_of_somebodys_machine():
    homes = re.compile(r"(?<![\w.~-])/(?:root|work|home/\w+|Users/\w+)/|[A-Z]:\\+Users")
    found = {name(path): homes.findall(words(path)) for path in tracked() if path != Path(__file__)}
    assert not {path: hits for path, hits in found.items() if hits}


def test_no_file_names_the_host_of_a_package_index():
    hosts = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.|anaconda\.org|registry\.\w+\.(?:com|org)")
    found = {name(path): hosts.findall(words(path)) for path in tracked() if path != Path(__file__)}
    assert not {path: hits for path, hits in found.items() if hits}


NOTEBOOKS = [*ROOT.glob("lessons/*.ipynb"), *ROOT.glob("solutions/*.ipynb")]


@pytest.mark.parametrize("path", sorted(ROOT.glob("lessons/*.ipynb")), ids=name)
def test_a_lesson_carries_no_outputs(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.parametrize("path", sorted(NOTEBOOKS), ids=name)
def test_a_notebook_keeps_only_its_kernel_and_its_tags(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert set(book["metadata"]) <= {"kernelspec", "language_info"}
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    for cell in book["cells"]:
        assert set(cell["metadata"]) <= {"tags"}
        for output in cell.get("outputs", []):
            assert set(output.get("metadata", {})) <= {"image/png"}
