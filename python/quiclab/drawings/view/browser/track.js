// One direction of a connection in the figure: its panels, and its own clock on the time axis that all share.

import { CausesPanel } from "./causes.js";
import { FlightPanel } from "./flight.js";
import { gaugePanels, windowPanel } from "./gauges.js";
import { HeadingPanel } from "./heading.js";
import { RowsPanel } from "./rows.js";
import { SegmentsPanel } from "./segments.js";
import { SentPanel } from "./sent.js";
import { ShiftedAxis } from "./time.js";

/** @import { Bottleneck } from "./bottleneck.js" */
/** @import { Colours } from "./colours.js" */
/** @import { Direction } from "./model.js" */
/** @import { Panel, Why } from "./panels.js" */
/** @import { TimeAxis } from "./time.js" */

/** What all scenes of a figure share.
 *  @typedef {{ time: TimeAxis, colours: Colours, compares: boolean, head: number, height: number }} Surroundings */

/** What panels know of the figure: what they draw, on which time axis, in which colours.
 *  @template {{ clock: number }} Shown */
class ClockedScene {
  /** @param {Surroundings} figure @param {Shown} direction
   *  @param {number} offset what to add to the times of `direction` for those of the figure's axis, in nanoseconds */
  constructor(figure, direction, offset) {
    this.figure = figure;
    this.direction = direction;
    this.offset = direction.clock = offset;
    this.time = offset === 0 ? figure.time : new ShiftedAxis(figure.time, offset);
  }

  get colours() {
    return this.figure.colours;
  }
}

/** A bottleneck in the figure.
 *  @extends {ClockedScene<Bottleneck>} */
export class Link extends ClockedScene {}

/** One direction of a connection in the figure.
 *  @extends {ClockedScene<Direction>} */
export class Track extends ClockedScene {
  /** @param {Surroundings} figure @param {Direction} direction
   *  @param {number} offset what to add to the times of `direction` for those of the figure's axis, in nanoseconds
   *  @param {{ name: string, short: string, why?: Why }} flow the flow and who sends, for what is told of several; where its
   *  time went, if that is known
   *  @param {Link} [link] its bottleneck, if that is known */
  constructor(figure, direction, offset, { name, short, why }, link) {
    super(figure, direction, offset);
    this.name = name;
    this.short = short;
    this.why = why;
    this.link = link;
    this.sent = new SentPanel(this);
    this.flight = new FlightPanel(this);
    this.rows = new RowsPanel(this);
    this.causes = why ? [new CausesPanel(this, why)] : [];
    this.segments = direction.player ? new SegmentsPanel(this, direction.player) : undefined;
  }

  get compares() {
    return this.figure.compares;
  }

  /** The panels of a track that is alone; `between` stand below its packets.
   *  @param {Panel[]} between @returns {Panel[]} */
  panels(between) {
    const { direction } = this;
    // Of a connection without packets there is nothing but its gauges.
    const packets = direction.count ? [this.sent, this.flight] : [];
    const player = this.segments ? [this.segments] : [];
    return [...packets, ...this.causes, ...between, ...player, ...(direction.count ? [this.rows] : []), ...gaugePanels(this)];
  }

  /** Its panels among those of others.
   *  @returns {Panel[]} */
  stacked() {
    const { direction } = this;
    this.sent.shrink();
    this.flight.height = 44;
    const gauges = direction.metrics.has("congestion_window") && direction.sendsData ? [windowPanel(this, 84)] : [];
    return [new HeadingPanel(this), ...(direction.count ? [this.sent, this.flight] : []), ...this.causes, ...gauges];
  }
}
