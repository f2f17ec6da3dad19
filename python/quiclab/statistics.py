"""Means with confidence intervals, and quantiles, of the runs of a sweep, grouped by what the sweep varies.

The public name of `quiclab.results.statistics`.
"""

from quiclab.results.statistics import Interval as Interval
from quiclab.results.statistics import Part as Part
from quiclab.results.statistics import bootstrap as bootstrap
from quiclab.results.statistics import check as check
from quiclab.results.statistics import deviation_of as deviation_of
from quiclab.results.statistics import interval_of as interval_of
from quiclab.results.statistics import mean_of as mean_of
from quiclab.results.statistics import means as means
from quiclab.results.statistics import part_told as part_told
from quiclab.results.statistics import parts as parts
from quiclab.results.statistics import quantiles as quantiles
from quiclab.results.statistics import resolve as resolve
from quiclab.results.statistics import student_quantile as student_quantile
