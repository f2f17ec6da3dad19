"""What differs between two runs, scenarios or sweeps: `quiclab.diff`.

The public name of `quiclab.explanations.differences`.
"""

from quiclab.explanations.differences import Change as Change
from quiclab.explanations.differences import Comparable as Comparable
from quiclab.explanations.differences import Diff as Diff
from quiclab.explanations.differences import Values as Values
from quiclab.explanations.differences import changes as changes
from quiclab.explanations.differences import compared as compared
from quiclab.explanations.differences import diff as diff
from quiclab.explanations.differences import folder as folder
from quiclab.explanations.differences import results as results
from quiclab.explanations.differences import run_document as run_document
from quiclab.explanations.differences import scenario_values as scenario_values
from quiclab.explanations.differences import sweep_document as sweep_document
from quiclab.explanations.differences import value_text as value_text
