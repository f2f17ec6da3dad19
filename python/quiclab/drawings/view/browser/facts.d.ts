// What Python writes into the page of `quiclab view`, beside the columns: page.py, causes.py, players.py, bottleneck.py.
// Times are nanoseconds since the start of the connection, unless they say otherwise.

/** Of each column the number of its values and of its bytes. */
export type Index = Record<string, [count: number, length: number]>;

export interface PageFacts {
  title: string;
  version: string;
  notes: string[];
  connections: ConnectionFacts[];
  /** By their names. */
  bottlenecks: Record<string, BottleneckFacts>;
  columns: Index;
}

export interface ConnectionFacts {
  name: string;
  /** In nanoseconds since the start of the run. */
  start: number;
  duration: number;
  notes: string[];
  directions: DirectionFacts[];
  player?: Player;
  /** The end that sends data, the bottleneck's name, and the causes of waiting: of runs that have records. */
  dataSender?: string;
  bottleneck?: string | null;
  why?: WhyFacts | null;
}

export interface DirectionFacts {
  sender: string;
  hasSender: boolean;
  hasReceiver: boolean;
  /** Whether the log tells when the application wrote data. */
  hasWritten: boolean;
  streams: [id: number, bytes: number, retransmitted: number][];
  kinds: string[];
  triggers: string[];
  /** Texts of frames; each `{}` stands for a value. */
  texts: string[];
  metrics: string[];
  notes: string[];
}

/** A player of video: its downloads, and its stalls as pairs of start and end. */
export interface Player {
  segments: Segment[];
  stalls: [start: number, end: number][];
}

export interface Segment {
  kind: string;
  /** null: the initialization segment. */
  segment: number | null;
  representation: number;
  /** In Mbit/s. */
  bitrate: number;
  size: number;
  received: number;
  outcome: string;
  stream: number | null;
  asked: number;
  first: number | null;
  ended: number | null;
}

/** Where the time of a flow went. Its spans are columns behind the prefix. */
export interface WhyFacts {
  start: number;
  end: number;
  completed: boolean;
  unfinished: string;
  causes: CauseFacts[];
  beside: CauseFacts[];
  names: string[];
  prefix: string;
}

export interface CauseFacts {
  name: string;
  length: number;
  share: number;
  longest: [start: number, end: number];
  what: string;
  advice: string;
}

/** A bottleneck: the names of its columns behind the prefix; times are those of the run. */
export interface BottleneckFacts {
  prefix: string;
  rate: string[];
  queue: string[];
  outages: [start: number, end: number][];
}
