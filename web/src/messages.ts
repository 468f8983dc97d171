// Generated from the models of choreograph.studio by `python -m choreograph.studio.typescript`; do not edit.

/** Changes whenever a message does; told by both sides when they meet. */
export const PROTOCOL = "4a4e2fc164d1";

/** What was asked for is here: fetch its frames. For `solve`, may come again, better, with the same number. */
export interface Answer {
  type: "answer";
  number: number;
  verb: string;
  final: boolean;
  results: Result[];
}

/** Ask for motion, now: replaces what this page last asked of the same verb. */
export interface Ask {
  type: "ask";
  verb: "follow" | "solve" | "perform";
  number: number;
  ask: Record<string, unknown>;
}

/** Where the body is on the floor at a time, and where it looks. */
export interface BodyAsk {
  at_s: number;
  position: [number, number];
  facing_deg: number | null;
  weight: number;
}

/** A rectangle along the axes. */
export interface Box {
  low: [number, number];
  high: [number, number];
}

/** Stop a job. */
export interface Cancel {
  type: "cancel";
  job: string;
}

/** Round, on the floor. */
export interface Circle {
  centre: [number, number];
  radius: number;
}

/** A clip of the library: a recording, and what is done to it before it is used. */
export interface ClipEntry {
  id: string;
  source: string;
  name: string;
  trim: [number, number] | null;
  mirrored: boolean;
  labels: LabelRange[] | null;
}

/** What the graph made of a clip. */
export interface ClipReport {
  name: string;
  state: string;
  frames: number;
  shown: number;
  transitions: number;
  why: string;
  joins_at_m: number | null;
}

/** How the same is done without the studio. */
export interface Code {
  command: string;
  python: string;
}

/** How well a result meets one constraint. */
export interface ConstraintReport {
  where: string;
  text: string;
  met: boolean;
  cm: number | null;
  degrees: number | null;
}

/** Connectivity against the threshold. */
export interface Curve {
  threshold_m: number[];
  shown_share: number[];
  clip_share: number[];
  transitions: number[];
}

/** The project as its user made it. Undo and redo go through whole documents; the server keeps them. */
export interface Document {
  name: string;
  clips: ClipEntry[];
  graph: GraphAsk;
  follow: FollowAsk;
  solve: SolveAsk;
  perform: PerformAsk;
  kept: string[];
  removed: string[];
  names: Record<string, string>;
}

/** A new document; refused with 409 if `base` is not the present version. */
export interface DocumentChange {
  base: number;
  label: string;
  document: Document;
}

/** Another page, or a job, changed the document. */
export interface DocumentChanged {
  type: "document";
  state: DocumentState;
}

/** Answer to every change of the document. */
export interface DocumentState {
  version: number;
  document: Document;
  undo: string | null;
  redo: string | null;
  clips: Motion[] | null;
  graph: GraphSummary | null;
}

/** A recording that performances are made of. */
export interface ExampleFacts {
  clip: string;
  leader: string | null;
  name: string;
  seconds: number;
  segments: number;
  usual_m_s: number;
  top_m_s: number;
}

/** What performances are made of, as an ask says. */
export interface Examples {
  examples: ExampleFacts[];
  segments: number;
  longest_s: number;
  fastest_m_s: number;
  stretch_s: number;
  continuity_s: number;
}

/** A file to be made of a motion. */
export interface ExportAsk {
  motion: string;
  suffix: string;
}

/** Answer to whatever could not be done. */
export interface Failure {
  error: string;
  where: string | null;
}

/** How good a result is, in the units it is shown in. */
export interface Figures {
  seconds: number;
  mean_cm: number | null;
  worst_cm: number | null;
  end_cm: number | null;
  transitions_per_s: number | null;
  slide_cm_s: number | null;
  cost: number | null;
  proved: boolean | null;
  status: string;
  search_ms: number;
  total_ms: number;
  fit_cm: number | null;
  partner_cm: number | null;
  partner_root_cm: number | null;
}

/** A path to be followed, and how. */
export interface FollowAsk {
  points: [number, number][];
  smooth_m: number;
  rounded_m: number;
  stretches: StretchAsk[];
  final_facing: number | null;
  blend: "linear" | "cubic" | "anticipation";
  preset: string;
  clean: boolean;
  margins: Record<string, number>;
  start_clip: string | null;
  start_frame: number | null;
  continue_from: string | null;
  count: number;
  seed: number;
}

/** Announces the binary message after it: one frame, for `play`. */
export interface Frame {
  type: "frame";
  motion: string;
  frame: number;
  due: number;
}

/** How the graph is built; see `GraphSettings`. */
export interface GraphAsk {
  rate_hz: number;
  window_s: number;
  threshold_m: number;
  goal: number | "everything" | null;
  ceiling_m: number;
  taper: "triangle" | "uniform";
  mirror: boolean;
}

/** The graph was built. */
export interface GraphChanged {
  type: "graph";
  graph: GraphSummary;
}

/** The graph of the project. */
export interface GraphSummary {
  built_from: string;
  current: boolean;
  settings: GraphAsk;
  threshold_m: number;
  rate_hz: number;
  clips: ClipReport[];
  transitions: number;
  frames: number;
  shown: number;
  labels: string[];
  notes: string[];
}

/** Exactly this frame of this clip at a time, and what follows it for so long. */
export interface HardFrameAsk {
  at_s: number;
  clip: string;
  frame: number;
  lasts_s: number;
}

/** First message of a page. */
export interface Hello {
  type: "hello";
  protocol: string;
}

/** Frames [start, stop) in which a hand of the first person holds one of the second. */
export interface Hold {
  start: number;
  stop: number;
  joint: number;
  other: number;
}

/** Work that takes a while. */
export interface Job {
  id: string;
  kind: string;
  title: string;
  state: "waiting" | "running" | "done" | "failed" | "cancelled";
  stage: string;
  done: number;
  total: number;
  error: string | null;
  results: string[];
  started: number;
  seconds: number;
}

/** Work to be started. `follow`, `solve` and `perform` may also be asked over the socket, where newer ones replace older ones. */
export interface JobAsk {
  kind: "build" | "joins" | "follow" | "solve" | "perform" | "export";
  ask: Record<string, unknown>;
}

/** A job began, went on or ended. */
export interface JobChanged {
  type: "job";
  job: Job;
}

/** Where a joint is at a time, and how it moves. */
export interface JointAsk {
  at_s: number;
  joint: string;
  position: [number | null, number | null, number | null];
  velocity: [number | null, number | null, number | null];
  weight: number;
}

/** Whether a result is to be kept. */
export interface Kept {
  kept: boolean;
}

/** Motion with a label from one time to another. */
export interface LabelAsk {
  start_s: number;
  stop_s: number;
  label: string;
  weight: number;
}

/** A word said about frames [start, stop) of a clip. */
export interface LabelRange {
  text: string;
  start: number;
  stop: number;
}

/** Recordings came. */
export interface LibraryChanged {
  type: "library";
  recordings: Recording[];
}

/** Distances between all windows of two clips; the values themselves are at `values`, as a picture at `picture`. */
export interface Matrix {
  clip_a: string;
  clip_b: string;
  rows: number;
  columns: number;
  rate_hz: number;
  threshold_m: number;
  largest_m: number;
  minima: Minimum[];
}

/** A place where two clips are alike: frames at the graph's rate, where windows start. */
export interface Minimum {
  frame_a: number;
  frame_b: number;
  distance_m: number;
}

/** What the stage needs to know of a motion beside its frames. */
export interface Motion {
  id: string;
  name: string;
  frames: number;
  fps: number;
  skeleton: string;
  joints: string[];
  parents: number[];
  feet: string[];
  contacts: [number, number][][];
  labels: LabelRange[];
  sources: SourceRun[];
  leads: boolean;
}

/** Places of a way that is being performed, as they come; frames come back as `partial`, a fixed time later. When it is over, the whole of it is asked for like anything else. */
export interface Moved {
  type: "moved";
  number: number;
  begin: PerformAsk | null;
  samples: [number, number, number][];
}

/** Something to keep clear of: one of the three shapes. */
export interface ObstacleAsk {
  circle: Circle | null;
  box: Box | null;
  polygon: Polygon | null;
  clearance: number;
  weight: number;
}

/** The motion that was played has ended. */
export interface Over {
  type: "over";
  motion: string;
}

/** Frames found so far of what was asked; a binary message with the frames follows at once. The binary message is float32, little-endian, `count` rows of 3 + 4·J numbers as `/frames` has them. */
export interface Partial {
  type: "partial";
  number: number;
  verb: string;
  motion: Motion;
  start: number;
  count: number;
}

/** What leads, which recordings show how it is answered, and how it is read; see `PerformSettings`. */
export interface PerformAsk {
  lead: "path" | "body";
  examples: string[] | null;
  samples: [number, number, number][];
  smooth_s: number;
  lag_s: number;
  pairs: [string, string][] | null;
  leader: string | null;
  cut: boolean;
  stretch_s: number | null;
  continuity_s: number | null;
  beam_m2_s: number | null;
  clean: boolean;
}

/** A recorded segment that a performance is made of: when, which, and how sure. */
export interface Piece {
  start_s: number;
  stop_s: number;
  recording: string;
  recording_start_s: number;
  recording_stop_s: number;
  labels: string[];
  residual_m: number;
  gap_m: number;
  sure: number;
  rival: string | null;
}

/** Send a motion's frames as time goes by: for players that keep nothing. */
export interface Play {
  type: "play";
  motion: string;
  rate_hz: number;
  start: number;
  loop: boolean;
}

/** Corners in order. */
export interface Polygon {
  corners: [number, number][];
}

/** A pose like that of a clip's frame at a time. */
export interface PoseAsk {
  at_s: number;
  clip: string;
  frame: number;
  weight: number;
}

/** A transition to be looked at. */
export interface PreviewAsk {
  clip_a: string;
  frame_a: number;
  clip_b: string;
  frame_b: number;
}

/** A constraint that could not be met, for the stage to draw in red. */
export interface Problem {
  text: string;
  place: [number, number, number] | null;
  distance_m: number | null;
  where: string | null;
}

/** All that a page needs to begin. */
export interface Project {
  protocol: string;
  package: string;
  folder: string;
  version: number;
  document: Document;
  view: View;
  undo: string | null;
  redo: string | null;
  recordings: Recording[];
  clips: Motion[];
  graph: GraphSummary | null;
  results: Result[];
  jobs: Job[];
  formats: string[];
  readable: string[];
  presets: string[];
  verbs: string[];
}

/** A motion file that was read into the project. */
export interface Recording {
  id: string;
  name: string;
  file: string;
  format: string;
  frames: number;
  fps: number;
  skeleton: string;
  joints: string[];
  labels: LabelRange[];
  notes: string[];
}

/** What was asked for cannot be had. */
export interface Refused {
  type: "refused";
  number: number;
  verb: string;
  failure: Failure;
}

/** A motion that was asked for. */
export interface Result {
  id: string;
  verb: string;
  name: string;
  created: string;
  request: Record<string, unknown>;
  figures: Figures;
  problems: Problem[];
  errors: ConstraintReport[];
  motions: Motion[];
  path: [number, number][];
  pieces: Piece[];
  holds: Hold[];
  kept: boolean;
  command: string;
  python: string;
}

/** Results came, went or were renamed. */
export interface ResultsChanged {
  type: "results";
  results: Result[];
}

/** Constraints on a motion, as request files of `choreograph solve` have them, and how to search. What the numbers may be, the request itself says: its sentences name the constraint by its place. */
export interface SolveAsk {
  length_s: number;
  body: BodyAsk[];
  joints: JointAsk[];
  poses: PoseAsk[];
  frames: HardFrameAsk[];
  labels: LabelAsk[];
  obstacles: ObstacleAsk[];
  min_piece_s: number;
  count: number;
  seconds: number;
  seed: number;
}

/** Frames [start, stop) of a motion, and the clip that they show. */
export interface SourceRun {
  start: number;
  stop: number;
  clip: string;
  clip_frame: number;
  blend: string | null;
}

/** Stop sending frames. */
export interface Stop {
  type: "stop";
}

/** What is wanted between two places of a path. */
export interface StretchAsk {
  start: number;
  stop: number;
  speed: number | null;
  label: string | null;
  pause: number | null;
}

/** A message was not understood; the socket stays open. */
export interface Trouble {
  type: "trouble";
  failure: Failure;
}

/** What is shown and how; kept with the project, but not undone. */
export interface View {
  verb: string;
  theme: "dark" | "light";
  ghosts: boolean;
  ghost_every: number;
  paths: boolean;
  contacts: boolean;
  follow_camera: boolean;
  loop: boolean;
  speed: number;
  shown: string[];
}

/** Answer to Hello. */
export interface Welcome {
  type: "welcome";
  protocol: string;
  page: string;
}

export type ToServer =
  | Hello
  | Ask
  | Moved
  | Cancel
  | Play
  | Stop;

export type ToPage =
  | Welcome
  | JobChanged
  | DocumentChanged
  | LibraryChanged
  | GraphChanged
  | Partial
  | Answer
  | Refused
  | ResultsChanged
  | Frame
  | Over
  | Trouble;
