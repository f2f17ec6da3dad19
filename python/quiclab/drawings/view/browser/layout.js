// The room around the panels, in pixels.

/** The place of a panel in the figure.
 *  @typedef {{ top: number, height: number }} Place */

/** On the left, for the names of panels and streams. */
export const LEFT = 96;
/** On the right. */
export const RIGHT = 14;
/** Between panels. */
export const GAP = 10;
/** Below, for the time axis. */
export const AXIS = 34;
