"""What a link layer did for a connection: its lanes in the table `air`, bin by bin."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quiclab.drawings.plots.bins import bin_s, is_cut_off
from quiclab.drawings.plots.view import View
from quiclab.values.columns import numbers, values
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_BINS = 200
"""Most bins of a panel: its lines jump from bin to bin, and more of them are a thicket."""


@dataclass(frozen=True)
class Lanes:
    """The lanes of a connection on one medium, over at most 200 bins, each of equally many bins of the table."""

    data: str
    """The lane of the connection's data: `cell enb phone`."""
    back: str | None
    """The lane of what comes back, for which it is another one."""
    beside: tuple[str, ...]
    """The other lanes that the data shares its air time with; `back` may be one of them."""
    edges: Series
    """The limits of the bins in seconds: one more than bins."""
    _table: "pa.Table"
    _codes: npt.NDArray[np.int32]
    """The place of each row's lane among the texts of its column."""
    _places: npt.NDArray[np.int64]
    """The bin of each row."""
    _own_bins: Series
    """The bins of the table in each of the bins."""

    @property
    def centres(self) -> Series:
        """The middle of each bin in seconds."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)

    def total(self, column: str, lanes: Collection[str]) -> Series:
        """The sum of a column over lanes in each bin."""
        rows = self._rows(lanes)
        values = numbers(self._table[column])[rows]
        return np.bincount(self._places[rows], values, minlength=len(self._own_bins)).astype(np.float64)

    def share(self, lanes: Collection[str]) -> Series:
        """The share of air time that lanes had in each bin, in percent."""
        return np.asarray(100 * self.total("air_share", lanes) / self._own_bins)

    def sent_again(self) -> Series:
        """The share of repetitions among the blocks of the data's lane, in percent; NaN where there was no block."""
        again = self.total("again_blocks", [self.data])
        blocks = again + self.total("sent_blocks", [self.data])
        return _ratio(100 * again, blocks)

    def delay(self, part: str, lane: str) -> Series:
        """The mean delay of packets in ms in a part of the link layer (`queue`, `access`, `transfer` or `order`).

        NaN where no packet was delivered.
        """
        rows = self._rows([lane])
        packets = numbers(self._table["packets"])[rows]
        # A bin without packets has no delays.
        means = np.nan_to_num(numbers(self._table[f"{part}_delay_ms"])[rows])
        count, sums = (
            np.bincount(self._places[rows], weights, minlength=len(self._own_bins)).astype(np.float64)
            for weights in (packets, packets * means)
        )
        return _ratio(sums, count)

    def lost(self) -> Series:
        """The middle of its bin for each block of the data's lane that was given up, in seconds."""
        return np.repeat(self.centres, self.total("lost_blocks", [self.data]).astype(np.int64))

    def handovers(self) -> Series:
        """The middle of each bin in which the terminal changed its cell; none where media do not count that."""
        if "handovers" not in self._table.column_names:
            return np.empty(0)
        own = [self.data, *([self.back] if self.back else [])]
        return np.asarray(self.centres[self.total("handovers", own) > 0])

    def _rows(self, lanes: Collection[str]) -> npt.NDArray[np.bool_]:
        texts = self._table["link"].combine_chunks().dictionary.to_pylist()
        return np.isin(self._codes, [code for code, text in enumerate(texts) if text in lanes])


def lanes_of(view: View) -> Lanes | None:
    """The lanes of a connection; None if it passes no link layer, or if the run has no table of them."""
    if not view.data_lanes or "air" not in view.run.tables:
        return None
    table = view.run.table("air").arrow
    if not len(table):
        return None
    data = view.link if view.link in view.data_lanes else view.data_lanes[0]
    medium, beside = _beside(view.run.summary, data)
    back = next((lane for lane in view.back_lanes if lane.startswith(f"{medium} ") and lane != data), None)

    width = bin_s(view.run)
    bins = np.rint(numbers(table["time_s"]) / width).astype(np.int64)
    end = float(view.run.summary.get("duration_s") or 0)
    count = int(bins.max()) + 1
    if not is_cut_off(table):
        # Bins in which nothing happened have no row.
        count = max(count, int(np.ceil(end / width - 1e-6)))
    together = -(-count // _MOST_BINS)
    places = bins // together
    firsts = np.arange(0, count, together)
    edges = np.append(firsts, count) * width
    # The run may end within the last bin.
    edges[-1] = min(edges[-1], max(end, edges[-2]))
    return Lanes(
        data,
        back,
        beside,
        edges=edges,
        _table=table,
        _codes=values(table["link"].combine_chunks().indices).astype(np.int32),
        _places=places,
        _own_bins=np.diff(np.append(firsts, count)).astype(np.float64),
    )


def _beside(summary: dict[str, Any], data: str) -> tuple[str, tuple[str, ...]]:
    """The medium of a lane, and the other lanes of its carrier.

    Where a station has a lane for each terminal, these have a carrier of their own (the downlink of a cell).
    """
    media = [entry for entry in summary.get("media") or [] if "air" in entry]
    names = {" ".join(entry[key] for key in ("name", "attachment", "to") if key in entry): entry for entry in media}
    own = names[data]
    same = [
        name
        for name, entry in names.items()
        if name != data and entry["name"] == own["name"] and ("to" in entry) == ("to" in own)
    ]
    return own["name"], tuple(same)


def _ratio(sums: Series, counts: Series) -> Series:
    """Sums over counts; NaN where the count is zero."""
    return np.asarray(np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0), dtype=np.float64)
