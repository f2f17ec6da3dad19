"""Modules of JavaScript as one script: each with a scope of its own, and what is not understood is refused."""

import graphlib
import re
import subprocess
from pathlib import Path

import pytest

from programs import needs
from quiclab.drawings import self_contained

MAIN = "a/main.js"


def bundled(monkeypatch: pytest.MonkeyPatch, modules: dict[str, str]) -> str:
    monkeypatch.setattr(self_contained, "source", modules.__getitem__)
    return self_contained.bundle(MAIN)


def test_each_module_has_its_own_names_and_runs_once_after_what_it_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("node")
    script = bundled(
        monkeypatch,
        {
            MAIN: 'import { one, up } from "./one.js";\nimport { Two } from "../b/two.js";\n'
            'const hidden = "main";\nconsole.log(hidden, one, up(), new Two().name);\n',
            "a/one.js": '// One.\nconst hidden = "one";\nexport const one = 1;\nlet count = 0;\n'
            "/** Counts.\n *  export nothing */\n"
            "export function up() {\n  count++;\n  return `${hidden} ${count}`;\n}\n"
            'console.log("one");\n',
            "b/two.js": 'import { up } from "../a/one.js";\nexport class Two {\n  name = up();\n}\nconst hidden = 2;\n'
            "console.log(hidden);\n",
        },
    )
    done = subprocess.run(["node", "--input-type=module"], input=script, capture_output=True, text=True, timeout=60)
    assert done.stdout == "one\n2\nmain 1 one 1 one 2\n", done.stderr
    assert "//" not in script and "/*" not in script


REFUSED = {
    'import one from "./one.js";\n': "a/main.js: expected an import of names on one line, or an export of a function, "
    "a class or a constant instead of 'import one from \"./one.js\";'",
    'import { one as two } from "./one.js";\n': "instead of 'import { one as two }",
    'import {\n  one,\n} from "./one.js";\n': "instead of 'import {'",
    "export let one = 1;\n": "instead of 'export let one = 1;'",
    "export default 1;\n": "instead of 'export default 1;'",
    "  import('./one.js');\n": "instead of \"import('./one.js');\"",
    'import { two } from "./one.js";\n': "a/main.js: imports two from a/one.js, which does not export it",
    'import { main } from "./circle.js";\n': "a/main.js: imports itself by way of a/circle.js",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_understood_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    circle = 'import { main } from "./main.js";\n'
    with pytest.raises(ValueError) as error:
        bundled(monkeypatch, {MAIN: text, "a/one.js": "export const one = 1;\n", "a/circle.js": circle})
    assert REFUSED[text] in str(error.value)


FROM = re.compile(r'^(?:import [^"]*|/\*\* @import [^"]*)from "(\.[^"]*)"', re.MULTILINE)
"""An import of names or of types."""


def test_no_two_modules_need_each_other_not_even_for_types() -> None:
    root = Path(self_contained.__file__).parent
    needs_of = {}
    for path in [*root.rglob("*.js"), *root.rglob("*.d.ts")]:
        found = [(path.parent / name).resolve() for name in FROM.findall(path.read_text(encoding="utf-8"))]
        needs_of[path.resolve().with_name(path.name.replace(".d.ts", ".js"))] = found
    order = list(graphlib.TopologicalSorter(needs_of).static_order())
    assert len(order) == len(needs_of) > 40
