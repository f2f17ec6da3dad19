// One drawing of the figure: where to, and how much was drawn.

import { Raster } from "./raster.js";

/** @import { Colours } from "./colours.js" */
/** @import { Place } from "./layout.js" */

/** Draws on a canvas and counts what is drawn. */
export class Frame {
  /** @param {CanvasRenderingContext2D} context @param {number} left @param {number} ratio @param {Colours} colours */
  constructor(context, left, ratio, colours) {
    this.context = context;
    /** Where the time axis begins, in pixels. */
    this.left = left;
    /** Device pixels for each pixel. */
    this.ratio = ratio;
    this.colours = colours;
    /** Primitives: rectangles, lines, marks, texts. */
    this.count = 0;
    /** Packets, frames, spans and values that were looked at. */
    this.visited = 0;
    /** @type {(() => void)[]} */
    this.deferred = [];
    /** Where the ticks are, in pixels of the axis.
     *  @type {number[]} */
    this.grid = [];
  }

  /** Pixels for a panel, with the lines of the ticks.
   *  @param {number} width @param {number} height */
  raster(width, height) {
    const raster = new Raster(Math.round(width * this.ratio), Math.round(height * this.ratio), this.colours.pixel(this.colours.panel));
    for (const x of this.grid) {
      const left = Math.round(x) * this.ratio;
      raster.rect(left, 0, left + 1, raster.height, this.colours.pixel(this.colours.grid));
    }
    return raster;
  }

  /** The lines of the ticks in a panel.
   *  @param {Place} panel */
  drawGrid(panel) {
    this.context.fillStyle = this.colours.grid;
    for (const x of this.grid) this.context.fillRect(this.left + Math.round(x), panel.top, 1 / this.ratio, panel.height);
    this.count += this.grid.length;
  }

  /** Pixels onto the axis, below everything that is drawn after them.
   *  @param {Raster} raster @param {number} top */
  image(raster, top) {
    this.context.putImageData(raster.image, Math.round(this.left * this.ratio), Math.round(top * this.ratio));
    this.count += raster.count;
    raster.count = 0;
  }

  /** Draws when the panels are done and nothing is clipped.
   *  @param {() => void} draw */
  later(draw) {
    this.deferred.push(draw);
  }

  /** The name of a panel, and a line below it.
   *  @param {Place & { title: string }} panel @param {string} below */
  label(panel, below) {
    this.later(() => {
      const { context, colours } = this;
      context.textAlign = "right";
      context.textBaseline = "top";
      context.fillStyle = colours.ink;
      context.font = "600 11px system-ui, sans-serif";
      context.fillText(panel.title, this.left - 10, panel.top + 2);
      context.font = "10px system-ui, sans-serif";
      context.fillStyle = colours.soft;
      context.fillText(below, this.left - 10, panel.top + 16);
      this.count += 2;
    });
  }

  /** A sentence in a panel.
   *  @param {Place} panel @param {string} text */
  note(panel, text) {
    const { context, colours } = this;
    context.font = "italic 11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "top";
    const width = context.measureText(text).width;
    context.fillStyle = colours.panel;
    context.fillRect(this.left + 6, panel.top + 3, width + 6, 15);
    context.fillStyle = colours.soft;
    context.fillText(text, this.left + 9, panel.top + 5);
    this.count += 2;
  }

  /** @param {number} x @param {number} y @param {number} arm @param {string} colour */
  cross(x, y, arm, colour) {
    const { context } = this;
    context.beginPath();
    for (const way of [-1, 1]) {
      context.moveTo(x - arm, y - way * arm);
      context.lineTo(x + arm, y + way * arm);
    }
    context.lineWidth = 3.5;
    context.strokeStyle = this.colours.panel;
    context.stroke();
    context.lineWidth = 1.6;
    context.strokeStyle = colour;
    context.stroke();
    context.lineWidth = 1;
    this.count++;
  }

  /** @param {number} x @param {number} y @param {string} colour */
  triangle(x, y, colour) {
    const { context } = this;
    context.beginPath();
    context.moveTo(x, y - 3);
    context.lineTo(x + 3.5, y + 3);
    context.lineTo(x - 3.5, y + 3);
    context.fillStyle = colour;
    context.fill();
    this.count++;
  }

  /** From one mark to another, over the highest point.
   *  @param {number} fromX @param {number} fromY @param {number} toX @param {number} toY @param {number} high
   *  @param {string} colour */
  arc(fromX, fromY, toX, toY, high, colour) {
    const { context } = this;
    context.strokeStyle = colour;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.bezierCurveTo(fromX, high - 6, toX, high - 6, toX, toY);
    context.stroke();
    this.count++;
  }
}
