// One direction of a connection in the figure: its panels, and its own clock on the time axis that all share.

import { CausesPanel } from "./causes.js";
import { FlightPanel } from "./flight.js";
import { gaugePanels, windowPanel } from "./gauges.js";
import { HeadingPanel } from "./heading.js";
import { RowsPanel } from "./rows.js";
import { SegmentsPanel } from "./segments.js";
import { SentPanel } from "./sent.js";
import { ShiftedAxis } from "./time.js";

/** What panels know of the figure: whose packets, which time axis, which colours. */
export class Track {
  /** @param offset what to add to the times of `direction` for those of the figure's axis, in nanoseconds */
  constructor(figure, direction, offset, { name, short, why }) {
    this.figure = figure;
    this.direction = direction;
    this.offset = direction.clock = offset;
    /** The flow and who sends, for what is told of several. */
    this.name = name;
    this.short = short;
    /** Where its time went, if that is known. */
    this.why = why;
    this.time = offset === 0 ? figure.time : new ShiftedAxis(figure.time, offset);
    this.sent = new SentPanel(this);
    this.flight = new FlightPanel(this);
    this.rows = new RowsPanel(this);
    for (const panel of [this.sent, this.flight, this.rows]) panel.top = 0;
    this.causes = why ? [new CausesPanel(this)] : [];
    this.segments = direction.player ? new SegmentsPanel(this) : undefined;
  }

  get colours() {
    return this.figure.colours;
  }

  get compares() {
    return this.figure.compares;
  }

  /** The panels of a track that is alone; `between` stand below its packets. */
  panels(between) {
    const { direction } = this;
    // Of a connection without packets there is nothing but its gauges.
    const packets = direction.count ? [this.sent, this.flight] : [];
    const player = this.segments ? [this.segments] : [];
    return [...packets, ...this.causes, ...between, ...player, ...(direction.count ? [this.rows] : []), ...gaugePanels(this)];
  }

  /** Its panels among those of others. */
  stacked() {
    const { direction } = this;
    this.sent.shrink();
    this.flight.height = 44;
    const gauges = direction.metrics.has("congestion_window") && direction.sendsData ? [windowPanel(this, 84)] : [];
    return [new HeadingPanel(this), ...(direction.count ? [this.sent, this.flight] : []), ...this.causes, ...gauges];
  }
}
