// The figure: panels below each other over one time axis, drawn when something has changed.

import { bottleneckPanels, drawOutages } from "./capacity.js";
import { Colours } from "./colours.js";
import { inside } from "./elements.js";
import { Frame } from "./frame.js";
import { AXIS, GAP, LEFT, RIGHT } from "./layout.js";
import { drawFound, drawMarked } from "./marked.js";
import { OverviewPanel } from "./overview.js";
import { drawStalls } from "./segments.js";
import { TimeAxis } from "./time.js";
import { Link, Track } from "./track.js";

/** @import { Bottleneck } from "./bottleneck.js" */
/** @import { Direction, Waits } from "./model.js" */
/** @import { Panel, Target, Why } from "./panels.js" */

/** So many packets on each side of one that is gone to can be seen. */
const NEIGHBOURS = 20;

/** How many drawings the times are kept of. */
const KEPT = 240;

/** What is shown: a direction with its name and a shorter one, when its connection began, and, if these are known, its
 *  bottleneck and where its time went.
 *  @typedef {{ direction: Direction, name: string, short: string, start: number, bottleneck?: Bottleneck, why?: Why }} Shown */

/** A place in a panel, and what is at a place of a track.
 *  @typedef {{ panel: Panel, x: number, y: number }} Spot
 *  @typedef {Target & { track: Track }} Marked */

/** All panels: of one direction of a connection, or of several, which then have fewer each. */
export class Figure {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.plot = inside(element, "#plot", HTMLCanvasElement);
    this.overlay = inside(element, "#overlay", HTMLCanvasElement);
    this.compares = true;
    this.time = new TimeAxis(1);
    this.colours = new Colours(document.documentElement);
    this.ratio = 1;
    this.width = 0;
    this.height = 0;
    /** @type {Track[]} */
    this.tracks = [];
    /** The place of the track that was marked last. */
    this.current = 0;
    /** @type {Map<Bottleneck, Link>} */
    this.links = new Map();
    this.overview = new OverviewPanel(this);
    /** @type {Panel[]} */
    this.panels = [];
    /** What the pointer is at, and what a click has kept.
     *  @type {Marked | undefined} */
    this.hovered = undefined;
    /** @type {Marked | undefined} */
    this.kept = undefined;
    /** @type {Spot | undefined} */
    this.pointer = undefined;
    this.onRange = () => {};
    this.onKept = () => {};
    /** Found packets: for each track its packets in their order.
     *  @type {Map<Track, Uint32Array>} */
    this.found = new Map();
    /** Of the last drawings: milliseconds, primitives, elements looked at.
     *  @type {{ milliseconds: number, primitives: number, visited: number }[]} */
    this.drawings = [];
    this.pending = false;
    this.overlayPending = false;
  }

  /** Shows directions from the first beginning to the last end.
   *  @param {Shown[]} shown */
  show(shown) {
    const zero = Math.min(...shown.map(({ start }) => start));
    this.time = new TimeAxis(Math.max(...shown.map(({ direction, start }) => start - zero + direction.duration)));
    this.hovered = this.kept = undefined;
    this.found = new Map();
    // A bottleneck has the clock of the run.
    this.links = new Map(shown.flatMap(({ bottleneck }) => (bottleneck ? [[bottleneck, new Link(this, bottleneck, -zero)]] : [])));
    this.tracks = shown.map((each) => new Track(this, each.direction, each.start - zero, each, each.bottleneck && this.links.get(each.bottleneck)));
    this.current = 0;
    const links = [...this.links.values()].flatMap(bottleneckPanels);
    this.overview = new OverviewPanel(this);
    const panels = this.isStacked ? [...this.tracks.flatMap((track) => track.stacked()), ...links] : this.track.panels(links);
    this.panels = [...(this.tracks.some(({ direction }) => direction.count) ? [this.overview] : []), ...panels];
    this.theme();
    this.onKept();
  }

  /** Whether there are several tracks: they have no rows of streams. */
  get isStacked() {
    return this.tracks.length > 1;
  }

  /** Where the panels below the overview begin, in pixels. */
  get head() {
    return this.panels[0] === this.overview ? this.overview.height : 0;
  }

  /** The track that was marked last, and what belongs to it. */
  get track() {
    return this.tracks[this.current];
  }

  get direction() {
    return this.track.direction;
  }

  get sent() {
    return this.track.sent;
  }

  get flight() {
    return this.track.flight;
  }

  get rows() {
    return this.track.rows;
  }

  get segments() {
    return this.track.segments;
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
    const context = pen(this.plot);
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
      if (!panel.isText) this.#shade(frame, panel);
      context.restore();
    }
    for (const draw of frame.deferred) draw();
    this.#axis(frame, ticks, unit);
    this.drawOverlay();
    this.drawings.push({ milliseconds: performance.now() - begun, primitives: frame.count, visited: frame.visited });
    if (this.drawings.length > KEPT) this.drawings.shift();
    this.onRange();
  }

  /** Stalls of a player, and outages of the bottleneck.
   *  @param {Frame} frame @param {Panel} panel */
  #shade(frame, panel) {
    const scene = panel.figure;
    const link = scene instanceof Track ? scene.link : scene;
    if (link instanceof Link) drawOutages(link, frame, panel);
    if (scene instanceof Track) drawStalls(scene, frame, panel);
  }

  /** @param {Frame} frame @param {{ time: number, text: string }[]} ticks @param {string} unit */
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
    const context = pen(this.overlay);
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
      context.moveTo(LEFT + this.pointer.x, this.head);
      context.lineTo(LEFT + this.pointer.x, this.height - AXIS);
      context.stroke();
      context.setLineDash([]);
    }
    for (const [track, packets] of this.found) drawFound(track, frame, packets);
    for (const target of [this.kept, this.hovered]) if (target) drawMarked(target.track, frame, target);
    context.restore();
  }

  /** What is at a place in a panel.
   *  @param {Spot} spot */
  hit({ panel, x, y }) {
    const target = x >= 0 && x <= this.time.width ? panel.hit(x, y) : undefined;
    return target && { ...target, track: panel.figure instanceof Track ? panel.figure : this.track };
  }

  /** Keeps something marked, or nothing.
   *  @param {Marked | undefined} target */
  keep(target) {
    this.kept = target;
    if (target) this.current = this.tracks.indexOf(target.track);
    this.onKept();
    this.invalidate();
  }

  /** The panel at a height, and the place in it, from a place in the figure.
   *  @param {number} x @param {number} y */
  at(x, y) {
    const panel = this.panels.find((each) => y >= each.top && y < each.top + each.height + GAP / 2);
    return panel && { panel, x: x - LEFT, y: Math.min(y - panel.top, panel.height - 0.5) };
  }

  /** Marks a segment, and scrolls to the row of its stream.
   *  @param {Marked & { kind: "segment" }} target */
  revealSegment(target) {
    const { rows, direction } = target.track;
    rows.reveal(direction.streams.findIndex((stream) => stream.id === target.segment.stream));
    this.keep(target);
  }

  /** Shows a wait with some space around it, and marks it.
   *  @param {Waits} waits @param {number} span @param {Track} [track] */
  reveal(waits, span, track = this.track) {
    const { direction } = track;
    const start = Math.min(waits.start[span], waits.missing[span] >= 0 ? direction.sent[waits.missing[span]] : Infinity);
    this.#around(track, start, waits.end[span]);
    const stream = waits.stream[span];
    const isCredit = waits === direction.blocked;
    track.rows.reveal(stream);
    this.keep({ kind: isCredit ? "blocked" : "wait", waits, span, stream: Math.min(stream, direction.streams.length - 1), track });
  }

  /** Shows a time with some space around it, and marks it.
   *  @param {Track} track @param {number} start @param {number} end @param {string} text */
  revealSpan(track, start, end, text) {
    this.#around(track, start, end);
    this.keep({ kind: "span", start, end, text, track });
  }

  /** @param {Track} track @param {number} start @param {number} end */
  #around({ time }, start, end) {
    const space = (end - start) * 0.25;
    time.show(Math.max(time.least, start - space), Math.min(time.most, end + space));
  }

  /** Marks a packet, and moves and zooms until it can be told from its neighbours.
   *  @param {Track} track @param {number} packet */
  revealPacket(track, packet) {
    const { direction, time } = track;
    const { sent } = direction;
    const near = sent[Math.min(direction.count - 1, packet + NEIGHBOURS)] - sent[Math.max(0, packet - NEIGHBOURS)];
    const wide = Math.max(near, 3 * direction.typicalDelay);
    const span = Math.min(time.span, wide * 1.5);
    const isVisible = time.start <= sent[packet] && sent[packet] <= time.end;
    if (!isVisible || time.span > 4 * wide) time.show(sent[packet] - span / 3, sent[packet] + (2 * span) / 3);
    this.keep({ kind: "packet", packet, track });
  }
}

/** What draws on a canvas.
 *  @param {HTMLCanvasElement} canvas */
function pen(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser cannot draw on a canvas");
  return context;
}
