// Colours: of the theme from the style sheet, and of streams so that colour-blind people can tell neighbours apart.

// The palette of Okabe and Ito, "Color Universal Design" (2008), without black and yellow; for dark ground lighter.
const ON_LIGHT = ["#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"];
const ON_DARK = ["#3d9fdf", "#f0803c", "#26b78c", "#f2b632", "#de94bd", "#8cd0f7"];

/** The colours of a theme. */
export class Colours {
  /** @param {Element} element */
  constructor(element) {
    const style = getComputedStyle(element);
    /** @param {string} name */
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    this.isDark = read("dark") === "1";
    this.ground = read("ground");
    this.panel = read("panel");
    this.ink = read("ink");
    this.soft = read("soft");
    this.grid = read("grid");
    this.other = read("other");
    this.hatch = read("hatch");
    this.palette = this.isDark ? ON_DARK : ON_LIGHT;
    this.bits = new Map();
  }

  /** The colour of a stream by its place. After the palette it begins again, darker and then lighter.
   *  @param {number} at */
  stream(at) {
    const base = this.palette[at % this.palette.length];
    const round = Math.floor(at / this.palette.length) % 3;
    return round === 0 ? base : mix(base, round === 1 ? "#000000" : "#ffffff", this.isDark === (round === 1) ? 0.3 : 0.35);
  }

  /** Black or white: what can be read on a colour.
   *  @param {string} colour */
  on(colour) {
    const [red, green, blue] = parts(colour);
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000000" : "#ffffff";
  }

  /** A colour as the 32 bits of a pixel.
   *  @param {string} colour */
  pixel(colour) {
    let bits = this.bits.get(colour);
    if (bits === undefined) {
      const [red, green, blue] = parts(colour);
      bits = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
      this.bits.set(colour, bits);
    }
    return bits;
  }
}

/** A colour between two, `share` of the second.
 *  @param {string} one @param {string} other @param {number} share */
export function mix(one, other, share) {
  const [first, second] = [parts(one), parts(other)];
  const mixed = first.map((value, at) => Math.round(value * (1 - share) + second[at] * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** @param {string} colour */
function parts(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
