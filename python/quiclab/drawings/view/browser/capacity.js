// The panels of a bottleneck: its rates and its queue; and the shade of its outages.

import { GaugesPanel } from "./gauges.js";

/** @import { Bottleneck } from "./bottleneck.js" */
/** @import { Frame } from "./frame.js" */
/** @import { Place } from "./layout.js" */
/** @import { Scene, Target } from "./panels.js" */

/** Gauges of a bottleneck.
 *  @extends {GaugesPanel<Bottleneck>} */
class BottleneckPanel extends GaugesPanel {
  /** @param {number} time @returns {Target} */
  found(time) {
    return { kind: "bottleneck", time, bottleneck: this.figure.direction };
  }
}

/** The panels of a bottleneck, from a track whose direction it is.
 *  @param {Scene<Bottleneck>} track */
export function bottleneckPanels(track) {
  const { metrics, name } = track.direction;
  const lines = [
    { name: "delivered", text: `delivered by ${name}`, short: "delivered", colour: 5, isArea: true },
    { name: "capacity", text: `capacity of ${name}`, short: "capacity", colour: 1 },
  ];
  const waiting = { name: "bytes", text: `in the queue of ${name}`, short: name, colour: 3, isArea: true };
  const panels = [new BottleneckPanel(track, "rate (Mbit/s)", 76, lines, 1e6)];
  if (metrics.has("bytes")) panels.push(new BottleneckPanel(track, "queue (kB)", 64, [waiting], 1e3));
  return panels;
}

/** Shades the outages of a bottleneck in a panel.
 *  @param {Scene<Bottleneck>} track @param {Frame} frame @param {Place} panel */
export function drawOutages(track, frame, panel) {
  const { context } = frame;
  context.globalAlpha = 0.13;
  context.fillStyle = track.colours.ink;
  for (const [start, end] of track.direction.outagesWithin(track.time.start, track.time.end)) {
    const [from, to] = [track.time.x(start), track.time.x(end)];
    context.fillRect(frame.left + from, panel.top, Math.max(1, to - from), panel.height);
    frame.count++;
  }
  context.globalAlpha = 1;
}
