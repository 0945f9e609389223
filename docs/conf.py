"""How the site is built: `make docs`. No page asks the network for anything, and a warning is an error."""

from __future__ import annotations

import inspect
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import get_origin

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import leastwise  # noqa: E402

project = "leastwise"
author = "The leastwise authors"
copyright = f"{author}, Apache-2.0"
release = version = leastwise.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    "gallery/sg_execution_times.rst",
    "sg_execution_times.rst",
    "jupyter_execute",
]

# Pages: Markdown, links to headings, and notebooks that are run while the site is built.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_ipywidgets_js = {}  # they would come from the network

# The API reference: every door with all that it exports, from the docstrings. What the front door exports too is
# told there.
LISTED = re.findall(r"^   (leastwise[\w.]*)$", (ROOT / "docs/api/index.md").read_text("utf-8"), re.MULTILINE)


def _exports(room):
    module = import_module(room)
    public = {name: getattr(module, name) for name in module.__all__}
    front = [name for name in public if module is not leastwise and name in leastwise.__all__]
    values = {name: _value(found) for name, found in public.items() if not _has_docstring(found)}
    own = [name for name in public if name not in front and name not in values]
    return {"own": own, "values": values, "front": front}


def _has_docstring(found):
    """Constants and aliases of types have none of their own."""
    return inspect.isroutine(inspect.unwrap(found)) or (inspect.isclass(found) and not get_origin(found))


def _value(found):
    return f"one of {', '.join(map(repr, found))}" if isinstance(found, dict | tuple) else str(found)


def _inheriting(room):
    """Return the classes that are more than objects: of the others' bases there is nothing to say."""
    module = import_module(room)
    bases = {name: getattr(getattr(module, name), "__bases__", (object,)) for name in module.__all__}
    return [f"{room}.{name}" for name, found in bases.items() if found != (object,)]


autosummary_generate = True
autosummary_imported_members = True
autosummary_context = {
    "doors": {room: _exports(room) for room in LISTED},
    "inheriting": [name for room in LISTED for name in _inheriting(room)],
}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"  # a method stands below its class, and long names are cut off
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# What a docstring says is true and in numpydoc's order; how much it says is left to its author.
numpydoc_validation_checks = {"GL06", "GL07", "GL09", "GL10", "PR02", "PR03", "PR06", "SS04"}

os.environ.pop("LEASTWISE_DATA", None)  # the examples show the bundled records, wherever the site is built
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "copyfile_regex": r".*\.ipynb",
    "notebook_extensions": set(),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "leastwise"
html_static_path = ["_static"]
html_css_files = ["leastwise.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "changelog": [], "security": [], "contributing": []}
html_theme_options = {
    "logo": {"text": "leastwise"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app):
    """On the site, a link to an example leads to its page in the gallery, and signatures are those of Python."""
    app.connect("source-read", _link_examples)
    app.connect("autodoc-process-signature", _without_factories)


def _without_factories(app, what, name, found, options, signature, returned):
    """Write the default that a function makes in a way that Sphinx can read: then types have links."""
    return (signature and signature.replace("<factory>", "..."), returned)


def _link_examples(app, page, content):
    content[0] = re.sub(r"\]\((?:\.\./)+examples/(\w+)\.py\)", r"](/gallery/\1.rst)", content[0])
    content[0] = re.sub(r"\]\((?:\.\./)+examples/(\w+\.ipynb)\)", r"](/gallery/\1)", content[0])
