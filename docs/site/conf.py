"""The configuration of Sphinx for the site. `build.py` runs it; the other modules here are its parts."""

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import equations  # noqa: E402
import finish  # noqa: E402
import sources  # noqa: E402
from pygments.lexers.special import TextLexer  # noqa: E402

project = "quiclab"
author = "the authors of quiclab"
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["docs/index.md", "docs/site"]

myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 6
# `$Number$` of a manifest, and prices, are no formulas: what stands between dollars must not begin or end with a space.
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
suppress_warnings = ["myst.header"]

# An indented block is a command, or what a command prints.
highlight_language = "text"
pygments_style = "a11y-light"
pygments_dark_style = "github-dark"
python_maximum_signature_line_length = 80
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "quiclab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = equations.RENDERER
# A summary would be fetched, which browsers refuse to pages that are opened from a disk.
html_show_search_summary = False
html_theme_options = {"footer_icons": []}


def setup(app):
    """Connects the parts with Sphinx."""
    # All pages are read again when the navigation or one of these modules has changed.
    parts = [path.read_bytes() for path in sorted([*HERE.glob("*.py"), *HERE.glob("*.toml")])]
    app.add_config_value("site_parts", hashlib.sha256(b"".join(parts)).hexdigest(), "env")
    # Script tests have a language of their own.
    app.add_lexer("quic", TextLexer)
    equations.setup(app)
    sources.setup(app)
    finish.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
