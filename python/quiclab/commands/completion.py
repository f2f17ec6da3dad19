"""`quiclab dev completion SHELL`: the script by which a shell completes commands, options and values."""

from typing import Annotated

import typer

from quiclab.commands import completions
from quiclab.commands.output import echo
from quiclab.values.suggestions import checked

_BASH = """\
_quiclab() {
    local lines
    mapfile -t lines < <("${COMP_WORDS[0]}" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=("${lines[@]:1}")
    if [[ ${lines[0]} == nospace ]]; then
        compopt -o nospace
    fi
}
complete -F _quiclab quiclab
"""

_ZSH = """\
#compdef quiclab
_quiclab() {
    local line
    local -a values shown open open_shown
    for line in "${(@f)$("${words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        local value="${line%%$'\\t'*}"
        if [[ $value == *[=/.] ]]; then
            open+=("$value")
            open_shown+=("${line/$'\\t'/  -- }")
        else
            values+=("$value")
            shown+=("${line/$'\\t'/  -- }")
        fi
    done
    compadd -l -d shown -a values
    compadd -l -S '' -d open_shown -a open
}
if [[ $funcstack[1] == _quiclab ]]; then
    _quiclab "$@"
else
    compdef _quiclab quiclab
fi
"""

_FISH = """\
function __quiclab_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    $program __complete fish $words "$current" 2>/dev/null
end
complete --command quiclab --no-files --keep-order --arguments "(__quiclab_complete)"
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""By the names of shells."""


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="bash, zsh or fish.", show_default=False, autocompletion=completions.words(*SCRIPTS)
        ),
    ],
) -> None:
    """Print the script with which a shell completes commands, options, files, columns and keys of scenarios.

    For bash, add this line to ~/.bashrc; for zsh, to ~/.zshrc after compinit:

    Example: eval "$(quiclab dev completion bash)"

    For fish: quiclab dev completion fish > ~/.config/fish/completions/quiclab.fish
    """
    echo(SCRIPTS[checked("shell", shell, SCRIPTS)], nl=False)
