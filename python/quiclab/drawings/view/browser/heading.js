// A line of text above the panels of one of several flows.

/** @import { Frame } from "./frame.js" */
/** @import { Scene, Target } from "./panels.js" */

/** The name of a flow, and who sends. */
export class HeadingPanel {
  /** @param {Scene & { name: string }} track */
  constructor(track) {
    this.figure = track;
    this.top = 0;
    this.height = 18;
    this.title = "";
    this.isText = true;
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { colours, time, name } = this.figure;
    const { context } = frame;
    context.fillStyle = colours.ground;
    context.fillRect(frame.left, this.top, time.width, this.height);
    context.font = "600 12px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.fillStyle = colours.ink;
    context.fillText(name, frame.left, this.top + this.height - 1, time.width);
    frame.count += 2;
  }

  /** @returns {Target | undefined} */
  hit() {
    return undefined;
  }
}
