// The panel of a player: a bar for each download of a segment, from the request to its end.

import { mix } from "./colours.js";

/** @import { Player, Segment } from "./facts.js" */
/** @import { Frame } from "./frame.js" */
/** @import { Place } from "./layout.js" */
/** @import { Scene, Target } from "./panels.js" */

const SEGMENT_ROW = 20;

/** A row for video, a row for audio. */
export class SegmentsPanel {
  /** @param {Scene} figure @param {Player} player */
  constructor(figure, player) {
    this.figure = figure;
    this.segments = player.segments;
    this.top = 0;
    this.title = "segments";
    const { segments } = player;
    this.kinds = ["video", "audio"].filter((kind) => segments.some((each) => each.kind === kind));
    this.height = Math.max(1, this.kinds.length) * SEGMENT_ROW;
    this.highest = Math.max(1, ...segments.map((each) => each.representation));
  }

  /** The higher the representation, the darker the colour.
   *  @param {Segment} segment */
  #colour(segment) {
    const { colours } = this.figure;
    const share = 0.25 + (0.75 * segment.representation) / this.highest;
    return mix(colours.panel, colours.palette[this.kinds.indexOf(segment.kind) * 2], share);
  }

  /** Left and right of a bar on the time axis, and its top in the figure.
   *  @param {Segment} segment */
  place(segment) {
    const { time, direction } = this.figure;
    const [from, to] = [time.x(segment.asked), time.x(segment.ended ?? direction.duration)];
    return [from, Math.max(from + 1, to), this.top + this.kinds.indexOf(segment.kind) * SEGMENT_ROW + 2];
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { time, colours } = this.figure;
    const { context } = frame;
    frame.label(this, this.kinds.join(", "));
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const segment of this.segments) {
      frame.visited++;
      if (segment.asked > time.end || (segment.ended ?? Infinity) < time.start) continue;
      const [from, to, top] = this.place(segment);
      const colour = this.#colour(segment);
      context.fillStyle = colour;
      context.fillRect(frame.left + from, top, to - from > 3 ? to - from - 1 : to - from, SEGMENT_ROW - 4);
      frame.count++;
      const middle = top + SEGMENT_ROW / 2 - 2;
      if (!["complete", "underway"].includes(segment.outcome)) frame.cross(frame.left + to - 4, middle, 3, colours.ink);
      const text = segment.segment === null ? "init" : `${segment.segment}`;
      const [left, right] = [Math.max(from, 0), Math.min(to, time.width)];
      if (context.measureText(text).width + 6 > right - left) continue;
      context.fillStyle = colours.on(colour);
      context.fillText(text, frame.left + left + 3, middle);
      frame.count++;
    }
  }

  /** @param {number} x @param {number} y @returns {Target | undefined} */
  hit(x, y) {
    const kind = this.kinds[Math.floor(y / SEGMENT_ROW)];
    const near = this.segments.filter((segment) => {
      const [from, to] = this.place(segment);
      return segment.kind === kind && from - 2 <= x && x <= to + 1;
    });
    const segment = near.at(-1);
    return segment && { kind: "segment", segment };
  }
}

/** Shades the stalls of a player in a panel.
 *  @param {Scene} figure @param {Frame} frame @param {Place} panel */
export function drawStalls(figure, frame, panel) {
  const { context } = frame;
  context.globalAlpha = 0.16;
  context.fillStyle = figure.colours.palette[1];
  for (const [start, end] of figure.direction.player?.stalls ?? []) {
    const [from, to] = [figure.time.x(start), figure.time.x(end)];
    if (to < 0 || from > figure.time.width) continue;
    context.fillRect(frame.left + from, panel.top, Math.max(1, to - from), panel.height);
    frame.count++;
  }
  context.globalAlpha = 1;
}
