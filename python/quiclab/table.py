"""The class `Table`: the tables of runs and sweeps, for pyarrow, pandas, polars and SQL.

The public name of `quiclab.results.table`.
"""

from quiclab.results.table import Table as Table
from quiclab.results.table import sql_names as sql_names
