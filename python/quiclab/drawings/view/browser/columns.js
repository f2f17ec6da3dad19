// Columns of integers, unpacked: the counterpart of columns.py.

/** @import { Index } from "./facts.js" */

/** The columns of the page. A column is decoded when it is asked for. */
export class Columns {
  /** @param {Uint8Array} bytes @param {Object<string, [number, number]>} index */
  constructor(bytes, index) {
    this.bytes = bytes;
    this.places = new Map();
    let at = 0;
    for (const [name, [count, length]] of Object.entries(index)) {
      this.places.set(name, [at, count]);
      at += length;
    }
    if (at !== bytes.length) throw new Error(`the columns have ${bytes.length} bytes, expected ${at}`);
  }

  /** The values of a column.
   *  @param {string} name */
  values(name) {
    const place = this.places.get(name);
    if (!place) throw new Error(`no column ${name}`);
    const [start, count] = place;
    const out = new Float64Array(count);
    const bytes = this.bytes;
    for (let index = 0, at = start; index < count; index++) {
      // Not by shifts, which know 32 bits only.
      let value = 0;
      let unit = 1;
      let byte = bytes[at++];
      while (byte > 127) {
        value += (byte & 127) * unit;
        unit *= 128;
        byte = bytes[at++];
      }
      value += byte * unit;
      out[index] = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    return out;
  }

  /** The values of a column that was written as differences.
   *  @param {string} name */
  sums(name) {
    const out = this.values(name);
    for (let index = 1; index < out.length; index++) out[index] += out[index - 1];
    return out;
  }
}

/** Reads the packed columns.
 *  @param {string} text @param {Index} index */
export async function unpack(text, index) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Columns(new Uint8Array(await new Response(stream).arrayBuffer()), index);
}
