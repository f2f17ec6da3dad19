// What panels are given, and what they find at a point.

import type { Bottleneck } from "./bottleneck.js";
import type { Segment, WhyFacts } from "./facts.js";
import type { Colours } from "./colours.js";
import type { Frame } from "./frame.js";
import type { Place } from "./layout.js";
import type { Direction, Waits } from "./model.js";
import type { Axis } from "./time.js";

/** What a panel draws, on which time axis, in which colours. */
export interface Scene<Shown = Direction> {
  direction: Shown;
  time: Axis;
  colours: Colours;
}

/** Where the time of a flow went, with its spans in columns: when each begins and ends, and the place of its cause's name. */
export type Why = WhyFacts & { spans: { start: Float64Array; end: Float64Array; cause: Float64Array } };

/** A band of the figure, over the time axis. */
export interface Panel extends Place {
  title: string;
  /** Whether it is text, which nothing is shaded behind. */
  isText?: boolean;
  /** What it draws: a scene, or the figure. */
  figure: object;
  draw(frame: Frame): void;
  /** What is at a point in it, from its left and top. */
  hit(x: number, y: number): Target | undefined;
}

/** What is at a point. `span` is the place of a wait among `waits`, `stream` that of a stream. */
export type Target =
  | { kind: "packet"; packet: number }
  | { kind: "packets"; from: number; to: number }
  | { kind: "wait"; waits: Waits; span: number }
  | { kind: "queued"; waits: Waits; span: number; stream: number; time: number }
  | { kind: "blocked"; waits: Waits; span: number; stream: number }
  | { kind: "segment"; segment: Segment }
  | { kind: "span"; start: number; end: number; text: string }
  | { kind: "gauges"; time: number }
  | { kind: "bottleneck"; time: number; bottleneck: Bottleneck };
