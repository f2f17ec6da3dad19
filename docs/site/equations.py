"""Formulas in LaTeX become MathML while the site is built, by docutils: no script and no font has to be loaded."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

RENDERER = "mathml"


def setup(app):
    """Registers the renderer."""
    app.add_html_math_renderer(RENDERER, inline_renderers=(_inline, None), block_renderers=(_block, None))


def _inline(self, node):
    self.body.append(f'<span class="math">{_mathml(node, as_block=False)}</span>')
    raise nodes.SkipNode


def _block(self, node):
    self.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _mathml(node, as_block):
    try:
        _check_pairs(node.astext())
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s: %s", node.astext(), error, location=node)
        return ""


def _check_pairs(text):
    """Raises if something is opened and not closed, which the converter lets pass."""
    text = re.sub(r"\\\\|\\[{}]", "", text)
    for begin, end in ((r"{", r"}"), (r"\\left\b", r"\\right\b"), (r"\\begin\b", r"\\end\b")):
        if len(re.findall(begin, text)) != len(re.findall(end, text)):
            raise MathError("something is opened and not closed, or the other way round")
