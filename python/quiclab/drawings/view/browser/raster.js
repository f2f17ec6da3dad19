// A rectangle of pixels that is written directly: thousands of bars cost no more than the pixels they cover.

/** Pixels of a panel, in device pixels. */
export class Raster {
  /** @param {number} width @param {number} height @param {number} ground */
  constructor(width, height, ground) {
    this.image = new ImageData(Math.max(1, width), Math.max(1, height));
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.width = this.image.width;
    this.height = this.image.height;
    this.pixels.fill(ground);
    /** How many rectangles were written. */
    this.count = 0;
  }

  /** Fills from (left, top) up to (right, bottom), which do not belong to it.
   *  @param {number} left @param {number} top @param {number} right @param {number} bottom @param {number} colour */
  rect(left, top, right, bottom, colour) {
    const [x0, x1] = [Math.max(0, left), Math.min(this.width, right)];
    const [y0, y1] = [Math.max(0, top), Math.min(this.height, bottom)];
    if (x0 >= x1 || y0 >= y1) return;
    this.count++;
    const { pixels, width } = this;
    for (let row = y0 * width; row < y1 * width; row += width) {
      // Most are a few pixels wide: a call for each row would cost more than the pixels.
      for (let at = row + x0; at < row + x1; at++) pixels[at] = colour;
    }
  }

  /** The same in stripes, so that what is behind shows.
   *  @param {number} left @param {number} top @param {number} right @param {number} bottom @param {number} colour
   *  @param {number} step */
  hatch(left, top, right, bottom, colour, step) {
    const [x0, x1] = [Math.max(0, left), Math.min(this.width, right)];
    const [y0, y1] = [Math.max(0, top), Math.min(this.height, bottom)];
    if (x0 >= x1 || y0 >= y1) return;
    this.count++;
    const wide = Math.max(1, step >> 2);
    for (let y = y0; y < y1; y++) {
      for (let x = x0; x < x1; x++) if ((x + y) % step < wide) this.pixels[y * this.width + x] = colour;
    }
  }
}
