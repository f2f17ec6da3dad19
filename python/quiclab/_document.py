"""Where the compiled module finds `quiclab.values.toml_text`: its name for it is older than the floors."""

from quiclab.values.toml_text import is_tables as is_tables
from quiclab.values.toml_text import plain as plain
