// The figure: panels below each other over one time axis, drawn when something has changed.

import { Colours } from "./colours.js";
import { FlightPanel } from "./flight.js";
import { Frame } from "./frame.js";
import { gaugePanels } from "./gauges.js";
import { AXIS, GAP, LEFT, RIGHT } from "./layout.js";
import { drawMarked } from "./marked.js";
import { OverviewPanel } from "./overview.js";
import { RowsPanel } from "./rows.js";
import { SegmentsPanel, drawStalls } from "./segments.js";
import { SentPanel } from "./sent.js";
import { TimeAxis } from "./time.js";

/** How many drawings the times are kept of. */
const KEPT = 240;

/** All panels of one direction of a connection. */
export class Figure {
  constructor(element) {
    this.element = element;
    this.plot = element.querySelector("#plot");
    this.overlay = element.querySelector("#overlay");
    this.compares = true;
    /** What the pointer is at, and what a click has kept. */
    this.hovered = undefined;
    this.kept = undefined;
    this.pointer = undefined;
    this.onRange = () => {};
    /** Of the last drawings: milliseconds, primitives, elements looked at. */
    this.drawings = [];
    this.pending = false;
    this.overlayPending = false;
  }

  /** Shows a direction from its beginning to its end. */
  show(direction) {
    this.direction = direction;
    this.time = new TimeAxis(direction.duration);
    this.hovered = this.kept = undefined;
    this.overview = new OverviewPanel(this);
    this.sent = new SentPanel(this);
    this.flight = new FlightPanel(this);
    this.rows = new RowsPanel(this);
    // Of a connection without packets there is nothing but its gauges.
    const packets = [this.overview, this.sent, this.flight, this.rows];
    for (const panel of packets) panel.top = 0;
    this.segments = direction.player ? new SegmentsPanel(this) : undefined;
    const player = this.segments ? [this.segments] : [];
    const above = direction.count ? [this.overview, this.sent, this.flight] : [];
    this.panels = [...above, ...player, ...(direction.count ? [this.rows] : []), ...gaugePanels(this)];
    this.theme();
  }

  /** Reads the colours again, and draws. */
  theme() {
    this.colours = new Colours(document.documentElement);
    this.overview.forget();
    this.resize();
  }

  /** Places the panels in the room there is. */
  resize() {
    this.ratio = window.devicePixelRatio || 1;
    this.width = Math.max(this.element.clientWidth, 320);
    this.time.width = this.width - LEFT - RIGHT;
    const others = this.panels.filter((panel) => panel !== this.rows);
    const fixed = others.reduce((sum, panel) => sum + panel.height, 0) + GAP * (this.panels.length - 1) + AXIS;
    const room = window.innerHeight - this.element.getBoundingClientRect().top - window.scrollY - fixed - 46;
    const count = this.panels.includes(this.rows) ? this.rows.streams.length : 0;
    this.rows.height = Math.round(Math.min(Math.max(room, this.rows.need(count)), Math.max(this.rows.wish(count), 44)));
    let top = 0;
    for (const panel of this.panels) {
      panel.top = top;
      top += panel.height + GAP;
    }
    this.height = top - GAP + AXIS;
    for (const canvas of [this.plot, this.overlay]) {
      canvas.width = Math.round(this.width * this.ratio);
      canvas.height = Math.round(this.height * this.ratio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
    }
    this.element.style.height = `${this.height}px`;
    this.invalidate();
  }

  /** Draws soon. */
  invalidate() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  /** Draws what is marked soon. */
  mark() {
    if (this.overlayPending || this.pending) return;
    this.overlayPending = true;
    requestAnimationFrame(() => {
      this.overlayPending = false;
      this.drawOverlay();
    });
  }

  draw() {
    const begun = performance.now();
    const context = this.plot.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.colours.ground;
    context.fillRect(0, 0, this.width, this.height);
    const { ticks, unit } = this.time.ticks();
    const frame = new Frame(context, LEFT, this.ratio, this.colours);
    frame.grid = ticks.map(({ time }) => this.time.x(time));
    for (const panel of this.panels) {
      context.save();
      context.beginPath();
      context.rect(LEFT, panel.top, this.time.width, panel.height);
      context.clip();
      context.fillStyle = this.colours.panel;
      context.fillRect(LEFT, panel.top, this.time.width, panel.height);
      if (panel !== this.overview) frame.drawGrid(panel);
      panel.draw(frame);
      if (panel !== this.overview) drawStalls(this, frame, panel);
      context.restore();
    }
    for (const draw of frame.deferred) draw();
    this.#axis(frame, ticks, unit);
    this.drawOverlay();
    this.drawings.push({ milliseconds: performance.now() - begun, primitives: frame.count, visited: frame.visited });
    if (this.drawings.length > KEPT) this.drawings.shift();
    this.onRange();
  }

  #axis(frame, ticks, unit) {
    const { context } = frame;
    const bottom = this.height - AXIS;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillStyle = this.colours.ink;
    for (const { time, text } of ticks) {
      const x = Math.round(LEFT + this.time.x(time)) + 0.5;
      context.fillText(text, x, bottom + 4);
      frame.count++;
    }
    context.fillText(`time (${unit})`, LEFT + this.time.width / 2, bottom + 18);
  }

  /** The line at the pointer, and what belongs to what is marked. */
  drawOverlay() {
    const context = this.overlay.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const frame = new Frame(context, LEFT, this.ratio, this.colours);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, this.time.width, this.height);
    context.clip();
    if (this.pointer && this.pointer.x >= 0 && this.pointer.panel !== this.overview) {
      context.strokeStyle = this.colours.soft;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(LEFT + this.pointer.x, this.sent.top);
      context.lineTo(LEFT + this.pointer.x, this.height - AXIS);
      context.stroke();
      context.setLineDash([]);
    }
    for (const target of [this.kept, this.hovered]) if (target) drawMarked(this, frame, target);
    context.restore();
  }

  /** The panel at a height, and the place in it, from a place in the figure. */
  at(x, y) {
    const panel = this.panels.find((each) => y >= each.top && y < each.top + each.height + GAP / 2);
    return panel && { panel, x: x - LEFT, y: Math.min(y - panel.top, panel.height - 0.5) };
  }

  /** Marks a segment, and scrolls to the row of its stream. */
  revealSegment(target) {
    this.kept = target;
    this.rows.reveal(this.direction.streams.findIndex((stream) => stream.id === target.segment.stream));
    this.invalidate();
  }

  /** Shows a wait with some room around it, and marks it. */
  reveal(waits, span) {
    const start = Math.min(waits.start[span], waits.missing[span] >= 0 ? this.direction.sent[waits.missing[span]] : Infinity);
    const room = (waits.end[span] - start) * 0.25;
    this.time.show(Math.max(this.time.least, start - room), Math.min(this.time.most, waits.end[span] + room));
    const stream = waits.stream[span];
    const isCredit = waits === this.direction.blocked;
    this.kept = { kind: isCredit ? "blocked" : "wait", waits, span, stream: Math.min(stream, this.direction.streams.length - 1) };
    this.rows.reveal(stream);
    this.invalidate();
  }
}
