"""The pages are complete, and true: links, paths, commands and imports lead somewhere, and by the doors only."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import get_origin

import pytest
import yaml

import leastwise

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts and "gallery" not in page.parts)
TEXTS = [*sorted(ROOT.glob("*.md")), *PAGES]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GROUND = {"leastwise.documents"}  # what all rooms stand on is nobody's door


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rooms() -> dict[str, list[str]]:
    """Return what the door of each room exports."""
    packages = [f"leastwise.{found.name}" for found in pkgutil.iter_modules(leastwise.__path__) if found.ispkg]
    doors = {name: importlib.import_module(name) for name in ("leastwise", *packages)}
    return {name: door.__all__ for name, door in doors.items() if hasattr(door, "__all__")}


def toctrees() -> list[Path]:
    """Return every page that is listed in a toctree."""
    found = []
    for page in PAGES:
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            found += [(page.parent / f"{entry}.md").resolve() for entry in entries]
    return found


def test_every_page_is_in_one_toctree() -> None:
    listed = [page for page in toctrees() if page != DOCS / "gallery" / "index.md"]
    assert sorted(listed) == [page for page in PAGES if page != DOCS / "index.md"]


def test_every_notebook_is_in_the_gallery() -> None:
    header = (ROOT / "examples" / "GALLERY_HEADER.rst").read_text("utf-8")
    for notebook in (ROOT / "examples").glob("*.ipynb"):
        assert re.search(rf"^ +{notebook.stem}$", header, re.MULTILINE), f"a toctree must name {notebook.stem}"


def test_every_door_is_in_the_api_reference() -> None:
    index = (DOCS / "api" / "index.md").read_text("utf-8")
    assert set(re.findall(r"^   (leastwise[\w.]*)$", index, re.MULTILINE)) == set(rooms()) - GROUND


def test_every_public_name_is_told() -> None:
    """A room's page lists what its door exports (docs/conf.py); each must have something to say there."""
    for room in set(rooms()) - GROUND:
        door = importlib.import_module(room)
        for name in door.__all__:
            found = getattr(door, name)
            if isinstance(found, type) or callable(getattr(found, "__wrapped__", None)):
                assert (found.__doc__ or "").strip(), f"{room}.{name} has no docstring"


def documented(thing: object) -> list[str]:
    """Return the parameters that a docstring tells, in its order."""
    told = (inspect.getdoc(thing) or "").partition("\nParameters\n----------\n")[2]
    section = re.split(r"\n\n[A-Z][a-z ]+\n-{3,}\n", told)[0]
    return [name for line in section.splitlines() if re.match(r"\w", line) for name in line.split(", ")]


def test_parameters_are_told_in_the_order_in_which_they_are_given() -> None:
    """The site's build refuses any other; it is too slow to be run with every change."""
    told = 0
    for room, names in rooms().items():
        for name in names:
            thing = getattr(importlib.import_module(room), name)
            if get_origin(thing) or not callable(thing) or not documented(thing):  # an alias tells of its type
                continue
            given = [*inspect.signature(thing).parameters]
            assert documented(thing) == [each for each in given if each in documented(thing)], f"{room}.{name}"
            told += 1
    assert told > 50


def modules_imported(text: str) -> list[tuple[str, list[str]]]:
    """Return (module, names) of each import from the package, in Python or in a page."""
    pattern = r"^\s*from (leastwise[\w.]*) import (?:\(([^)]*)\)|([^#\n]*))"
    found = re.findall(pattern, text, re.MULTILINE)
    return [(module, re.findall(r"(\w+)(?: as \w+)?", several or one)) for module, several, one in found]


@pytest.mark.parametrize("path", [*TEXTS, *EXAMPLES], ids=named)
def test_readers_come_in_by_the_doors(path: Path) -> None:
    text = path.read_text("utf-8")
    for module, names in modules_imported(text):
        assert module in rooms(), f"{module} lies behind a door; export what is needed at the door"
        assert set(names) <= set(rooms()[module])
    assert not re.search(r"^\s*import leastwise\.", text, re.MULTILINE)


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_names_in_the_text_are_public(path: Path) -> None:
    for room, name in re.findall(r"`leastwise\.(\w+)\.(\w+)", path.read_text("utf-8")):
        module = importlib.import_module(f"leastwise.{room}")
        assert name in getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", path.read_text("utf-8")):
        page = path.parent / target if target else path
        built = {(DOCS / "gallery" / "index.rst").resolve()}
        assert page.exists() or page.resolve() in built, target
        if heading:
            titles = re.findall(r"^#+ (.*)", page.read_text("utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_paths_in_the_text_exist(path: Path) -> None:
    """A path with one of our folders in front, or a module of the package, must be there."""
    package = Path(leastwise.__path__[0])
    ours = {each.name for folder in (ROOT, package) for each in folder.iterdir() if each.is_dir()}
    for found in re.findall(r"`((?:\w[\w.-]*/)+[\w.-]*)`", path.read_text("utf-8")):
        if found.split("/")[0] in ours - {"demo", "coverage"} and found != "docs/_build":
            assert any((base / found).exists() for base in (ROOT, ROOT / "src", package)), found


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_scripts_in_the_text_have_their_options(path: Path) -> None:
    for script, rest in re.findall(
        r"python ((?:benchmarks|examples|scripts)/\w+\.py)([^`#\n]*)", path.read_text("utf-8")
    ):
        source = (ROOT / script).read_text("utf-8") + (ROOT / "benchmarks" / "common.py").read_text("utf-8")
        assert [option for option in re.findall(r"--[\w-]+", rest) if f'"{option}"' not in source] == []


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_targets_of_make_exist(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"[`$] ?make ([\w-]+)", path.read_text("utf-8"))) <= targets


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == leastwise.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert changelog.index("## Unreleased") < changelog.index(f"## {leastwise.__version__} ")


def test_the_workflow_runs_every_supported_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [each.split(" :: ")[2] for each in project["classifiers"] if "Python :: 3" in each]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == declared
    assert project["requires-python"] == f">={declared[0]}"


def test_the_lowest_versions_are_read_from_the_project() -> None:
    script = ROOT / "scripts" / "lowest_versions.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "numpy==1.26.*" in lines
    assert all(re.fullmatch(r"[\w-]+==\d+\.[\d.]+\*", line) for line in lines)


class Resources(HTMLParser):
    """Collects what a page loads by itself: everything but the links that a person follows."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"src", "srcset", "data", "poster"} or (name == "href" and tag in {"link", "image", "use"}):
                self.loaded.append(value or "")
            elif name == "style":
                self.loaded += in_css(value or "")


def in_css(text: str) -> list[str]:
    return re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)


def test_what_a_page_loads_is_seen() -> None:
    page = Resources()
    page.feed(
        '<a href="https://a.org"><img src="https://b.org/b.png"><link href="//c.org/c.css"><p style="x: url(d)">'
    )
    assert page.loaded == ["https://b.org/b.png", "//c.org/c.css", "d"]


@pytest.mark.slow
def test_the_site_builds_and_asks_the_network_for_nothing(tmp_path: Path) -> None:
    for module in ("sphinx", "myst_nb", "numpydoc", "pydata_sphinx_theme", "sphinx_gallery", "sphinx_design"):
        pytest.importorskip(module, reason="the site needs leastwise[docs]")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--fresh-env", "--quiet"]
    done = subprocess.run([*command, str(DOCS), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {page.relative_to(tmp_path).as_posix() for page in tmp_path.rglob("*.html")}
    assert {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in PAGES} <= pages
    assert {f"gallery/{example.stem}.html" for example in EXAMPLES} <= pages
    elsewhere = [(place, each) for place, found in resources(tmp_path) for each in found if "//" in each[:8]]
    assert elsewhere == []


def resources(site: Path) -> list[tuple[str, list[str]]]:
    """Return what each page and each style sheet of a site loads."""
    found = []
    for page in site.rglob("*.html"):
        reader = Resources()
        reader.feed(page.read_text("utf-8"))
        found.append((page.name, reader.loaded))
    return found + [(sheet.name, in_css(sheet.read_text("utf-8"))) for sheet in site.rglob("*.css")]


def test_examples_begin_with_a_title_for_the_gallery() -> None:
    for example in EXAMPLES:
        told = ast.get_docstring(ast.parse(example.read_text("utf-8"))) or ""
        title, line, *_ = told.splitlines()
        assert line == "=" * len(title), example.name
