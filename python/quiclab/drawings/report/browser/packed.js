// The data of the page: base64, DEFLATE, JSON. The counterpart of packed.py.

/** Reads the packed data.
 *  @param {string} text */
export async function unpack(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Times that were written as differences in microseconds, in nanoseconds.
 *  @param {number[]} steps */
export function nanoseconds(steps) {
  const times = new Float64Array(steps.length);
  let now = 0;
  for (let at = 0; at < steps.length; at++) {
    now += steps[at];
    times[at] = now * 1000;
  }
  return times;
}
