// Numbers in words: the counterpart of rounded.py.

/** How many decimals numbers beside each other have: four significant digits of the greatest.
 *  @param {number} greatest */
export function decimalsOf(greatest) {
  if (!(greatest > 0)) return 0;
  return Math.min(Math.max(3 - Math.floor(Math.log10(greatest)), 0), 6);
}

// A format takes long to make and little to use.
const EVEN = [0, 1, 2, 3, 4, 5, 6].map((decimals) => (
  new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
));

/** A number with so many decimals and separated thousands; "-" where there is none.
 *  @param {number | null} value @param {number} decimals */
export function written(value, decimals) {
  return value === null || Number.isNaN(value) ? "-" : EVEN[decimals].format(value);
}

/** A number of an axis.
 *  @param {number} value */
export function tick(value) {
  const short = Number(value.toPrecision(6));
  return Math.abs(short) >= 1e4 || short === 0 || Math.abs(short) >= 1e-3 ? short.toLocaleString("en-US", { maximumFractionDigits: 6 }) : String(short);
}
