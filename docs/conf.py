"""How Sphinx builds the site; `.ci/docs FOLDER` runs it in an environment of its own.

Sphinx because the API is generated from the docstrings by numpydoc, as in scikit-learn, and because
every broken link, anchor or docstring is an error. Formulas become MathML while the site is built,
and fonts come with the theme: a page loads nothing from elsewhere.
"""

import re
import sys
from pathlib import Path

import committee

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "committee"
author = "The committee developers"
copyright = author
version = release = committee.__version__

# Links to the sources and "edit this page" appear when this names the repository.
REPOSITORY = ""

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "lectures",
]
exclude_patterns = ["_build", "_extensions", "images/*.py"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# Blocks of `layers-python` and `layers-core` have no lexer: they are tables for tests.
suppress_warnings = ["misc.highlighting_failure"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "committee"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "icon_links": (
        [{"name": "Repository", "url": REPOSITORY, "icon": "fa-brands fa-git-alt"}]
        if REPOSITORY
        else []
    ),
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
toc_object_entries_show_parents = "hide"

# Docstrings that estimators inherit from scikit-learn point to places of its own site.
_FOREIGN_LINK = re.compile(r":(?:ref|term):`([^`<]+?)\s*(?:<[^`>]+>)?`")


def _without_foreign_links(_app, _what, _name, _object, _options, lines):
    lines[:] = [_FOREIGN_LINK.sub(r"\1", line) for line in lines]


def setup(app):
    """Connect what is defined here."""
    app.connect("autodoc-process-docstring", _without_foreign_links)
