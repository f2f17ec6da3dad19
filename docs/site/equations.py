"""Formulas in LaTeX become MathML while the site is built: no script and no font has to be loaded."""

from docutils import nodes
from latex2mathml.converter import convert

RENDERER = "mathml"


def setup(app):
    """Registers the renderer."""
    app.add_html_math_renderer(RENDERER, inline_renderers=(_inline, None), block_renderers=(_block, None))


def _inline(self, node):
    self.body.append(f'<span class="math">{convert(node.astext(), display="inline")}</span>')
    raise nodes.SkipNode


def _block(self, node):
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
