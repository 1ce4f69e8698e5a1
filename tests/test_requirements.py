"""One list of versions: the lock file, and conda's file that points to it."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
DECLARED = [Requirement(line) for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]]


def locked():
    """Each entry of the lock file: the requirement, and the hashes that its lines carry."""
    joined = re.sub(r"\\\n\s*", "", LOCK)
    lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in lines:
        requirement, *hashes = line.split(" --hash=")
        yield Requirement(requirement.strip()), hashes


def test_every_locked_package_is_pinned_and_has_its_hashes():
    entries = list(locked())
    assert len(entries) > 100
    for requirement, hashes in entries:
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one.strip()) for one in hashes), requirement


def test_no_package_is_locked_twice():
    names = [canonicalize_name(requirement.name) for requirement, _ in locked()]
    assert sorted(names) == sorted(set(names))


def test_the_lock_file_names_no_index_and_no_host():
    assert not re.search(r"https?:|://|index-url|find-links|trusted-host", LOCK)


@pytest.mark.parametrize("requirement", DECLARED, ids=str)
def test_every_dependency_is_locked_at_a_version_it_allows(requirement):
    versions = {canonicalize_name(entry.name): entry.specifier for entry, _ in locked()}
    pinned = str(versions[canonicalize_name(requirement.name)]).removeprefix("==")
    assert requirement.specifier.contains(pinned)


def test_every_locked_package_is_needed_by_something():
    """A package that was dropped from pyproject.toml leaves the lock file too; uv notes who needs each."""
    declared = {canonicalize_name(requirement.name) for requirement in DECLARED}
    blocks = re.findall(r"^([\w.-]+)==[^\n]*\n((?:[ \t]+[^\n]*\n)+)", LOCK, flags=re.MULTILINE)
    assert len(blocks) == len(list(locked()))
    for name, block in blocks:
        assert "# via" in block, name
        assert "gradlab" not in block or canonicalize_name(name) in declared, f"{name}: type make lock"


def test_conda_installs_the_same_versions_on_the_same_pythons():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, by_pip = conda["dependencies"]
    assert pip == "pip"
    assert by_pip == {"pip": ["-r requirements.lock"]}
    assert SpecifierSet(python.removeprefix("python ")) == SpecifierSet(PROJECT["requires-python"])


def test_bootstrap_takes_just_the_pythons_that_pyproject_allows():
    import bootstrap

    allowed = SpecifierSet(PROJECT["requires-python"])
    for minor in range(8, 18):
        assert bootstrap.fits((3, minor, 1)) == (Version(f"3.{minor}.1") in allowed)
    assert not bootstrap.fits((2, 7, 18))
