// What Python writes into the page of a report: figures.py, sweep.py.

export interface ReportFacts {
  figures: FigureFacts[];
  sweeps: SweepFacts[];
}

/** A connection of a run. `end` is in seconds. */
export interface FigureFacts {
  run: number;
  title: string;
  sender: string;
  end: number;
  panels: PanelFacts[];
}

export interface PanelFacts {
  title: string;
  unit: string;
  lines: LineFacts[];
  marks: MarkFacts[];
}

/** Times are differences in microseconds. A value is null where there is none. */
export interface LineFacts {
  label: string;
  colour: string;
  style: string;
  times: number[];
  values: (number | null)[];
  dashed?: boolean;
  /** Far above all other lines: it does not stretch the axis. */
  far?: boolean;
}

export interface MarkFacts {
  label: string;
  count: number;
  times: number[];
}

export interface SweepFacts {
  columns: ColumnFacts[];
  /** Columns with one value in all runs. */
  same: [name: string, value: Value][];
  /** The quantiles 0.975 of Student's distribution, from one degree of freedom on, and that of the normal distribution. */
  quantiles: number[];
  normal: number;
  series: SeriesFacts[];
  /** Of each row the options that repeat its run, and its folder. */
  repeat: [options: string | null, folder?: string | null][];
}

export type Value = number | string | boolean | null;

export interface ColumnFacts {
  name: string;
  kind: "number" | "text" | "flag";
  shown: boolean;
  varied: boolean;
  /** Whether its numbers are integers. */
  whole?: boolean;
  /** Of a text the place among the words, of a flag 0 or 1; null where a run has no value. */
  values: (number | null)[];
  words?: string[];
}

/** A series of a run: what it is of, its quantity with the unit at the end. */
export type SeriesFacts = [run: number, subject: string, quantity: string, times: number[], values: (number | null)[]];
