// Generated from the models of choreograph.studio by `python -m choreograph.studio.typescript`; do not edit.

/** Changes whenever a message does; told by both sides when they meet. */
export const PROTOCOL = "9b7616e30aaf";

/** What JSON holds. */
export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain };

/** A value of a field that is known to help: the code has tried or computed it. */
export interface Advice {
  field: string;
  value: Plain;
}

/** What was asked for is here: fetch its frames. May come again, better, with the same number. */
export interface Answer {
  type: "answer";
  number: number;
  verb: string;
  final: boolean;
  results: Result[];
}

/** What a list tells of a clip of an archive. */
export interface ArchiveClip {
  id: string;
  name: string;
  folder: string;
  seconds: number;
  fps: number;
  labels: string[];
}

/** The clips of a .mog file, where there are too many to be listed one by one. */
export interface ArchiveFacts {
  clips: number;
  seconds: number;
  first: string;
  skeleton: string;
  joints: string[];
}

/** A folder, or a person where files are not known, and how many clips of it were asked for. */
export interface ArchiveFolder {
  name: string;
  clips: number;
}

/** Clips of an archive that were asked for by words. */
export interface ArchivePage {
  total: number;
  folders: ArchiveFolder[];
  start: number;
  clips: ArchiveClip[];
  hint: string;
}

/** Ask for motion, now: replaces what this page last asked of the same verb. */
export interface Ask {
  type?: "ask";
  verb: string;
  number: number;
  ask: Record<string, Plain>;
  subject?: string | null;
  passing?: boolean;
}

/** Stop a job. */
export interface Cancel {
  type?: "cancel";
  job: string;
}

/** A character that is in the project. */
export interface CharacterFacts {
  id: string;
  name: string;
  joints: string[];
  missing: string[];
  animated: boolean;
  own: boolean;
  roles: Record<string, string>;
}

/** Which joints of a character are which parts of the body, as somebody says. */
export interface CharacterRoles {
  name: string;
  roles: Record<string, string>;
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
  join: string;
}

/** How the same is done without the studio. */
export interface Code {
  command: string;
  python: string;
}

/** What the recordings in the graph can do. */
export interface Coverage {
  bands: SpeedBand[];
  stops: string;
  labels: LabelTime[];
  advice: string[];
}

/** Connectivity against the threshold. */
export interface Curve {
  threshold_m: number[];
  shown_share: number[];
  clip_share: number[];
  transitions: number[];
}

/** A new document; refused with 409 if `base` is not the present version. */
export interface DocumentChange {
  base: number;
  label: string;
  document: ProjectDocument;
}

/** Another page, or a job, changed the document. */
export interface DocumentChanged {
  type: "document";
  state: DocumentState;
}

/** Answer to every change of the document. */
export interface DocumentState {
  version: number;
  document: ProjectDocument;
  undo: string | null;
  redo: string | null;
  clips: Motion[] | null;
  graph: GraphSummary | null;
}

/** A request that is being made. */
export interface DraftAsk {
  request?: Record<string, Plain>;
}

/** What would be asked if a goal that is dragged were let go here; the motion comes back as `partial`, soon. Only the newest is answered. When it is let go, it is asked for like anything else. */
export interface Drag {
  type?: "drag";
  number: number;
  ask: Record<string, Plain>;
  pull?: Pulled | null;
}

/** A recording that performances are made of. */
export interface ExampleFacts {
  name: string;
  leader: string | null;
  seconds: number;
  segments: number;
  usual_m_s: number;
  top_m_s: number;
}

/** What performances are made of, as a request says. */
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
  export?: Record<string, Plain>;
  width?: number | null;
  frame?: number | null;
  transparent?: boolean;
  character?: boolean;
}

/** A face of the project: a recording, a head, or both. */
export interface FaceFacts {
  name: string;
  file: string;
  clip: string;
  frames: number;
  fps: number;
  shapes: number;
  head: boolean;
  notes: string[];
}

/** A file of a face that a page sends. */
export interface FaceFile {
  name: string;
  data: string;
}

/** A head to be shown: vertices, and how shapes move them. */
export interface FaceSurface {
  shapes: string[];
  vertices: string;
  triangles: string;
  moves: string;
  still: StillPart[];
  landmarks: boolean;
}

/** Answer to whatever could not be done. */
export interface Failure {
  error: string;
  where: string | null;
}

/** A request as a file, or a drawing that joins the request that is being made. */
export interface FileAsk {
  name: string;
  text: string;
  request?: Record<string, Plain>;
}

/** Places that were found, the best first. */
export interface FindAnswer {
  places: FoundPlace[];
  total: number;
  hint: string;
}

/** Places that are sought in the library; see `FindRequest`. */
export interface FindAsk {
  only?: string;
  like?: string | null;
  start_s?: number | null;
  end_s?: number | null;
  speed?: string | null;
  turn?: string | null;
  contact?: "left" | "right" | "both" | "none" | "any" | null;
}

/** A place in a clip of the library. */
export interface FoundPlace {
  clip: string;
  name: string;
  start_s: number;
  stop_s: number;
  distance_m: number | null;
  speed_m_s: number | null;
  turn_deg: number | null;
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
  max_blend_s: number | null;
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
  measured: boolean;
  clips: ClipReport[];
  clip_count: number;
  kept_count: number;
  transitions: number;
  frames: number;
  shown: number;
  labels: string[];
  notes: string[];
  coverage: Coverage | null;
}

/** First message of a page. */
export interface Hello {
  type?: "hello";
  protocol: string;
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

/** Work to be started. Verbs may also be asked over the socket, where newer requests replace older ones. */
export interface JobAsk {
  kind: string;
  ask?: Record<string, Plain>;
  subject?: string | null;
}

/** A job began, went on or ended. */
export interface JobChanged {
  type: "job";
  job: Job;
}

/** Whether a result is to be kept. */
export interface Kept {
  kept: boolean;
}

/** A word said about frames [start, stop) of a clip. */
export interface LabelRange {
  text: string;
  start: number;
  stop: number;
}

/** How long a label lasts. */
export interface LabelTime {
  label: string;
  seconds: number;
  outside_s: number;
}

/** A leg that is solved for its ankle. */
export interface LegFacts {
  ankle: number;
  joints: [number, number, number];
  hinge: [number, number, number];
  sole: [number, number, number, number];
  aside_m: number;
}

/** Recordings came. */
export interface LibraryChanged {
  type: "library";
  recordings: Recording[];
}

/** A table by which poses of a body are put on a character as they come; see `choreograph.motion.live_map`. */
export interface LiveFacts {
  parents: number[];
  offsets: [number, number, number][];
  to_parents: number[];
  to_offsets: [number, number, number][];
  low: number[];
  high: number[];
  share: number[];
  align: [number, number, number, number][];
  hips: [number, number];
  scale: [number, number, number];
  lift_m: number;
  legs: [LegFacts, LegFacts];
  soft_share: number;
  hinge_share: number;
  undo_rad: number;
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

/** A number that says how good an answer is. */
export interface Metric {
  value: number;
  unit: string;
  text: string;
  /** The value with its unit, as people say it: centimetres below a metre, shares in percent, no dust. */
  said: string;
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
  type?: "moved";
  number: number;
  begin?: Record<string, Plain> | null;
  lag_s?: number;
  samples: [number, number, number][];
}

/** A file besides the motion that can be had of a verb's result. */
export interface OutputFacts {
  name: string;
  help: string;
  suffixes: string[];
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

/** Send a motion's frames as time goes by: for players that keep nothing. */
export interface Play {
  type?: "play";
  motion: string;
  rate_hz?: number;
  start?: number;
  loop?: boolean;
}

/** A transition to be looked at. */
export interface PreviewAsk {
  clip_a: string;
  frame_a: number;
  clip_b: string;
  frame_b: number;
}

/** Something that the request asks for and the finished motion does not do; or a doubt, or a note. */
export interface Problem {
  kind: ProblemKind;
  text: string;
  where: string;
  asked: number | null;
  got: number | null;
  nearest: number | null;
  tolerance: number | null;
  unit: string;
  at_s: number | null;
  place: [number, number, number] | null;
  metric: string;
  advice: Advice[];
  /** Whether it counts as missed. */
  severity: Severity;
}

/** What a problem is about; `KINDS` has the severity, the meaning and the sentence of each. */
export type ProblemKind = "path_missed" | "path_incomplete" | "path_overrun" | "position_missed" | "facing_missed" | "heading_missed" | "joint_missed" | "velocity_missed" | "pose_missed" | "turn_missed" | "angle_missed" | "distance_missed" | "offset_missed" | "view_missed" | "contact_missed" | "speed_missed" | "turn_rate_missed" | "off_spot" | "label_missed" | "pause_short" | "feet_unplanted" | "root_glide" | "collision" | "step_forbidden" | "stone_missed" | "waypoint_missed" | "too_fast" | "turn_too_tight" | "airborne" | "hands_apart" | "segment_missed" | "not_converged" | "torque_limit" | "physics_violated" | "pose_unnatural" | "key_time_missed" | "rate_missed" | "gravity_changed" | "no_loop" | "limb_mismatch" | "joint_unmapped" | "fade_short" | "face_missed" | "examples_weak" | "physics_skipped" | "frame_rate_suspect" | "no_ground" | "out_of_range" | "fewer_answers" | "clips_excluded" | "library_sampled" | "input_repaired" | "turn_removed";

/** All that a page needs to begin. */
export interface Project {
  protocol: string;
  package: string;
  folder: string;
  version: number;
  document: ProjectDocument;
  view: View;
  undo: string | null;
  redo: string | null;
  recordings: Recording[];
  clips: Motion[];
  archive: ArchiveFacts | null;
  graph: GraphSummary | null;
  results: Result[];
  jobs: Job[];
  formats: string[];
  exporting: Record<string, Plain>;
  readable: string[];
}

/** The project as its user made it. Undo and redo go through whole documents; the server keeps them. */
export interface ProjectDocument {
  name: string;
  clips: ClipEntry[];
  graph: GraphAsk;
  requests: Record<string, Record<string, Plain>>;
  subjects: Record<string, string>;
  kept: string[];
  removed: string[];
  names: Record<string, string>;
}

/** A joint of a key pose that is pulled: the pose follows. */
export interface Pulled {
  goal: number;
  joint: string;
  position: [number, number, number];
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
  request: Record<string, Plain>;
  subject: string | null;
  answer: number;
  metrics: Record<string, Metric>;
  problems: Problem[];
  status: string;
  cost: number | null;
  proved: boolean;
  details: Record<string, Plain>;
  mechanics: boolean;
  search_s: number;
  total_s: number;
  motions: Motion[];
  path: [number, number][];
  kept: boolean;
  passing: boolean;
  command: string;
  python: string;
}

/** Results came, went or were renamed. */
export interface ResultsChanged {
  type: "results";
  results: Result[];
}

/** How much a problem matters. */
export type Severity = "missed" | "warning" | "note";

/** Frames [start, stop) of a motion, and the clip that they show. */
export interface SourceRun {
  start: number;
  stop: number;
  clip: string;
  clip_frame: number;
  blend: string | null;
}

/** What is recorded between two speeds, and the least radius of turns there. */
export interface SpeedBand {
  said: string;
  seconds: number;
  outside_s: number;
  left_m: number | null;
  right_m: number | null;
  bent_m: number | null;
}

/** A part of a head that no shape moves. */
export interface StillPart {
  vertices: string;
  triangles: string;
}

/** Stop sending frames. */
export interface Stop {
  type?: "stop";
}

/** A message was not understood; the socket stays open. */
export interface Trouble {
  type: "trouble";
  failure: Failure;
}

/** A way of asking for motion: what the page makes its tab and its form of. */
export interface VerbFacts {
  name: string;
  title: string;
  summary: string;
  subject: string;
  request: Record<string, Plain>;
  guide: string;
  outputs: OutputFacts[];
  changes_motion: boolean;
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
  lag_s: number;
  character: string | null;
  character_name: string;
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
  | Drag
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

/** How far a joint is bent: the angle between the bone that leads to it and the one that leads on. */
export interface AngleGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** A joint's name or role: "left_lower_leg" is the knee, "right_forearm" the elbow. */
  joint: string;
  /** 0 is straight. */
  bend_deg: number;
  /** How far from that is near enough, degrees. */
  tolerance_deg?: number | null;
}

/** A path that a motion is bent to. */
export interface BendRequest {
  /** The path: a .csv, .json or .svg file, or a shape such as circle:radius=4 or eight. */
  path?: string;
  /** The path as points, x and z in metres, instead of a file or shape. */
  points?: [number, number][];
  /** Metres per unit of the path's file, or m, cm … */
  scale?: string | null;
  /** Mirror the path left to right. */
  flip?: boolean;
  /** Smooth the path over so many metres. */
  smooth_m?: number;
  /** Round its corners to this radius. */
  rounded_m?: number;
  /** Share by which steps may be longer or shorter than recorded, so that the motion ends where the path does. */
  max_stretch?: number;
  /** Whether feet are cleaned, and how far the body leans into turns. */
  finish?: FinishSettings;
}

/** Two motions, and how one leads to the other. */
export interface Between {
  /** Two motions to lead from one to the other: files, or names of clips. Give the option twice. */
  motions: string[];
  /** Seconds from the last frame of the first motion to the first frame of the second. */
  duration_s?: number;
  /** How much of the first motion's end counts. */
  before_s?: number;
  /** How much of the second motion's beginning counts. */
  after_s?: number;
  /** Whether the second motion is where it was recorded; without, it comes wherever the first one leads. */
  as_recorded?: boolean;
  /** Whether the two motions are written too, before and after what leads from one to the other. */
  joined?: boolean;
}

/** A person's measures; what is not given comes from the skeleton and anthropometric tables. */
export interface BodyRequest {
  /** How tall the person is; else as tall as the skeleton's bones say. */
  height_m?: number | null;
  /** What the person weighs; else 23 kg for every square metre of the height. */
  mass_kg?: number | null;
  /** What single joints carry, instead of the table's share; repeat for more. */
  masses_kg?: Record<string, number>;
}

/** A camera that sees the motion. */
export interface Camera {
  /** Where it is, metres. */
  position: [number, number, number];
  /** What it looks at, in the middle of the picture. */
  target: [number, number, number];
  /** From the picture's lower to its upper edge. */
  field_of_view_deg?: number;
  /** Width of the picture over its height. */
  aspect?: number;
}

/** What one of several people is asked for; what stands beside all of them holds where a character has none. */
export interface Character {
  /** Places, joints, poses, labels and functions, each at a time. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** What this character keeps clear of; null for the scene beside the characters. */
  scene?: Scene | null;
  /** Least length of a piece of a clip. */
  min_piece_s?: number | null;
  /** What counts besides goals. */
  weights?: SolveWeights | null;
  /** The .mog file of the character's motion, where that is another skeleton's. */
  graph?: string | null;
}

/** How the model is learned, and how the optimum is looked for. */
export interface CompleteAdvanced {
  /** How the model is learned. */
  model?: LearnSettings;
  /** Learn only from the stretches of clips with this label; `only` chooses whole clips. */
  labelled?: string | null;
  /** Seconds between the knots of cubic B-splines, for long motions; 0 has an unknown for every frame. */
  knots_s?: number;
  /** Whether the nearest recorded motion leads between goals; without, the mean of all that is likely. */
  guided?: boolean;
  /** How firmly model and goals count. */
  weights?: CompleteWeights;
}

/** Motion to be completed. Times are in seconds from its first frame; it has a frame at 0 and one at `duration_s`. */
export interface CompleteRequest {
  /** Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*, folder:cmu/16. */
  only?: string | null;
  /** How long the motion lasts. */
  duration_s?: number | null;
  /** Poses, places, joints, contacts, labels and more, each at a time or during an interval. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** Two motions to lead from one to the other, instead of a duration. */
  between?: Between | null;
  /** Learn only from so many clips: those nearest to the goals. */
  nearest?: number | null;
  /** Whether goals are met exactly once the most likely motion is known, but those that say otherwise. */
  exact?: boolean;
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  /** Most iterations of the solver. */
  work_limit?: number;
  advanced?: CompleteAdvanced;
  /** Whether feet are cleaned, and at which rate the motion is. */
  finish?: FinishSettings;
}

/** How firmly the model and the goals count. */
export interface CompleteWeights {
  /** α: how firmly poses follow from those before them. */
  dynamics?: number;
  /** β: how firmly all goals count. At 1, joints are met to a centimetre before they are met exactly. */
  goals?: number;
}

/** A foot that stands, or a hand that carries, for a while. */
export interface ContactGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Which foot; */
  foot?: "left" | "right" | "both" | null;
  /** or which hand. */
  hand?: "left" | "right" | "both" | null;
  /** Which parts of the foot stand. */
  parts?: ("heel" | "ball" | "toe")[];
  /** Middle of the foot or palm, x, y and z, metres; y is the height of what it stands on. If left out, anywhere. */
  position?: [number, number, number] | null;
  /** Which way the foot points: 0 along +z, 90 along +x; if left out, any. */
  facing_deg?: number | null;
  /** How far it may slip, metres. */
  tolerance_m?: number | null;
}

/** A path to keep near, from its first point to its last. */
export interface Corridor {
  /** A .csv, .json or .svg file; drawing.svg#ID for one line of a drawing. */
  file?: string;
  /** A shape such as eight or circle:radius=4. */
  shape?: string;
  /** Points, x and z, metres. */
  points?: [number, number][];
  /** When each point is reached, seconds from the start; verbs that take a trajectory read it. */
  times?: number[];
  /** Metres per unit of the file, or m, cm …; of a shape, how many times larger. */
  scale?: string | null;
  /** Whether it is mirrored left to right. */
  flip?: boolean;
  /** Length over which it is smoothed. */
  smooth_m?: number;
  /** Radius to which its corners are rounded. */
  round_m?: number;
  /** Largest distance of the hips from it. */
  tolerance_m?: number;
}

/** A function of your own that says what a motion costs; the search keeps what lowers it. */
export interface CostGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Gets a `MotionView` and returns its cost, 0 or more: one number, or one for each frame (N,), which count by the second: 1 throughout ten seconds costs 10. In request files FILE.py:NAME. */
  function: string;
  /** What messages call it; the function's own name if empty. */
  name?: string;
}

/** How far two joints are from each other. */
export interface DistanceGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Two joints, by name or role. */
  joints: [string, string];
  /** Metres. */
  distance_m: number;
  /** How far from that is near enough, metres. */
  tolerance_m?: number | null;
}

/** The mechanics of a motion. */
export interface DynamicsRequest {
  /** Frequency above which motion is noise: a low-pass before differentiating; 0 takes the frames as they are. */
  cutoff_hz?: number;
  /** Force along the floor over the force onto it, at most. */
  friction?: number;
  /** Height of the floor; else 0, or what the feet stand on. */
  floor_m?: number | null;
  /** Whose motion it is. */
  body?: BodyRequest;
}

/** A walk that another goes on from. */
export interface EarlierWalk {
  /** What was asked for. */
  request: FollowRequest;
  /** Which of the answers. */
  answer?: number;
}

/** How the model of faces is learned. */
export interface FaceAdvanced {
  /** Frames that the next one follows from (m). */
  order?: number;
  /** Size of the control input, dim(u); that of the space of faces if left out. */
  controls?: number | null;
}

/** A face to be completed; without goals, the first recording is converted. */
export interface FaceRequest {
  /** Duration of the face; it has a frame at 0 and one at the end. */
  duration_s?: number | null;
  /** What is wanted at which time, in seconds from the first frame: shapes by weights, poses as frames of a recording, landmarks in millimetres. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** Whether shapes and poses are met exactly. */
  exact?: boolean;
  /** Landmarks and how shapes move them: a CSV file of shape, landmark, x_mm, y_mm, z_mm; a simple head's if left out. */
  shapes?: string | null;
  /** A .glb file of a head with named shapes that the face is shown and written on; a simple head if left out. */
  head?: string | null;
  advanced?: FaceAdvanced;
}

/** How a montage becomes a finished motion. */
export interface FinishSettings {
  /** Curve along which a transition of a motion graph mixes the motion it leaves with the motion it enters. */
  blend?: "linear" | "cubic" | "anticipation";
  /** Which parts of the body an anticipation blend sends ahead or holds back. */
  preset?: "even" | "arms first" | "arms last" | "legs first" | "legs last" | "upper body first" | "upper body last";
  /** Exponents C of an anticipation blend by role (left_foot), part (foot) or "root", the root's position; they count before the preset's. Above 1 a joint changes over early, below 1 late. */
  exponents?: Record<string, number>;
  /** How hard a transition of a motion graph may push joints: it is blended over as much of its window as that needs. 0 blends over the whole window. */
  blend_m_s2?: number;
  /** Time over which one recorded segment gives way to the next; never longer than half of the shorter one. */
  blend_s?: number;
  /** Time before and behind a cut over which its jump is spread. */
  cut_smooth_s?: number;
  /** Whether faults of the capture are repaired where recordings are cut or stretched: single frames that leap, joints that flip from one frame to the next. Walks through a motion graph show recordings as they are. */
  repair?: boolean;
  /** Whether feet stay where they stand; without it they are as recordings, blends and cuts have them. */
  clean?: boolean;
  /** A foot on the floor is held while it is slower than this; 0.36 m/s if not given, 0.42 m/s for motion with cuts, 0.5 m/s for motion that is bent, out of which feet are let go slowly. */
  foot_hold_m_s?: number | null;
  /** Whether hands that were held in the recordings are brought together, where there is a partner to hold. */
  hold_hands?: boolean;
  /** Whether a motion that is to be somewhere at a time is bent and stretched to be there: steps up to a tenth longer or shorter, turned no faster than people turn. */
  bend_body?: boolean;
  /** The fastest that the torso glides to where it should be, beyond that; what is missed by more stays missed. No limit if null. */
  root_correction_m_s?: number | null;
  /** How far a motion that is bent leans into its turns: 1 is the lean that balances them, 0 none. */
  lean?: number;
  /** Frames per second of the motion; the highest rate among the recordings it shows if not given. */
  rate_hz?: number | null;
}

/** How the search goes about it. */
export interface FollowAdvanced {
  /** "bound" seeds branch and bound with a beam; "beam" is the beam alone; "thesis" is the plain budgeted depth-first branch and bound of Dirican (2014), for comparison. */
  method?: "bound" | "beam" | "thesis";
  /** How far each planning step looks ahead (s). Default: 8 s where motion is bent, 20 s where not. */
  horizon_s?: number | null;
  /** How much of each planning step's answer is kept (r). */
  retain_s?: number;
  /** Walks of one age that the beam keeps. Default: 48 where motion is bent, which forgives much (down to 8 in graphs with many transitions or above 30 Hz), and 260 where not. */
  beam_width?: number | null;
  /** How far the beam looks along the continuations of a walk, to compare walks. */
  continuation_s?: number;
  /** Least speed of the target point on the path (gamma); never above a speed of the request. */
  forced_progress_m_s?: number;
  /** Frames to begin from that are tried. Default: 60 where motion is bent, 200 where not. */
  starts?: number | null;
  /** Lateral acceleration up to which motion is bent. Default: 1.5 m/s² at a walk, rising to 5 m/s² at a run. */
  max_lateral_m_s2?: number | null;
  /** Share by which steps may be longer or shorter than recorded where the request has a speed. */
  max_stretch?: number;
  /** What walks are judged by. */
  weights?: FollowWeights;
}

/** A path to be followed, and how. */
export interface FollowRequest {
  /** The path: a .csv, .json or .svg file, or a shape such as circle:radius=4 or eight. */
  path?: string;
  /** The path as points, x and z in metres, instead of a file or shape. */
  points?: [number, number][];
  /** Metres per unit of the path's file, or m, cm … */
  scale?: string | null;
  /** Mirror the path left to right. */
  flip?: boolean;
  /** Smooth the path over so many metres. */
  smooth_m?: number;
  /** Round its corners to this radius. */
  rounded_m?: number;
  /** Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*, folder:cmu/16. */
  only?: string | null;
  /** Where to look at the end, from +z. */
  facing_deg?: number | null;
  /** Speed along the whole path. */
  speed_m_s?: number | null;
  /** Use clips with this label, such as walk or run, along the whole path. */
  label?: string | null;
  /** Keep to clips with this label, such as sad or sneaking, where the request has no other label. */
  style?: string | null;
  /** Labels, speeds and pauses, each at a place of the path or on a stretch of it; or on the whole path. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** Stay in a clip unless a walk that leaves it is better by this margin. */
  prefer?: Record<string, number>;
  start?: FollowStart;
  /** Whether recorded motion is bent to the path where it does not turn as the path does. */
  bend?: boolean;
  /** A walk that this one goes on from: its path is walked first. */
  after?: EarlierWalk | null;
  /** How many different answers. */
  count?: number;
  /** Same seed, same answer. */
  seed?: number;
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  /** Time for the whole search; then the rest is searched by the beam alone, at a tenth of its width. */
  time_limit_s?: number | null;
  /** Frames that branch and bound may score in one planning step. */
  work_limit?: number;
  advanced?: FollowAdvanced;
  /** How the walk becomes motion. */
  finish?: FinishSettings;
}

/** Where and how the character begins. */
export interface FollowStart {
  /** x and z of the hips, metres, from where the character goes to the path's first point; else the path's start. */
  place?: [number, number] | null;
  /** Direction of travel at the start, from +z; else the path's own. */
  facing_deg?: number | null;
  /** Clip to begin in; else the search chooses, or it is the clip with the largest margin. */
  clip?: string | null;
  /** Frame of that clip, at its own rate, near which to begin. */
  frame?: number | null;
}

/** What walks are judged by besides their distance from the path. Costs are in m²·s: squared distance to the path, integrated over time. */
export interface FollowWeights {
  /** How much the best continuation of a walk counts, against what the walk has cost; 0 is a plain beam. */
  heuristic?: number;
  /** What a metre of the path that is still ahead counts when walks are compared. */
  metre?: number;
  /** Cost of a transition, also within a clip: what keeps the answer from blending without pause. Where motion is bent, four times that if poses are as far apart as the graph's threshold. */
  transition?: number;
  /** Cost of a piece in which the recording has a fault, such as a leap of the whole body. */
  fault?: number;
  /** Cost of each frame of a joint that turns as abruptly as one in a thousand recorded ones: a walk that plays one clip again and again would show its worst moment each time. Default: 0.002 where motion is bent, 0.0005 where not. */
  rough?: number | null;
  /** Cost of a second at 1 m/s off the speed of the request. Default: 0.1 where motion is bent, 0.02 where not. */
  speed?: number | null;
  /** Cost of a second without the label of the request. Default: 1 where motion is bent, 0.25 where not. */
  label?: number | null;
  /** Cost of a second of standing where the request has no pause, speed or label; less the faster the character is, nothing from walking speed on. Without it, a character who finds a path hard to follow stands: the target point hardly moves. */
  idle?: number;
  /** How long the distance from the path's end, where the walk stops, counts. */
  end_s?: number;
  /** Cost of an end that faces 90° away from the final facing. */
  facing?: number;
  /** Cost of a second at a lateral acceleration of 1 m/s² that bending adds: what makes the search prefer clips that turn by themselves. */
  bend?: number;
  /** Cost of a transition between clips whose labels have nothing in common; counts where motion is bent. */
  style_change?: number;
  /** Cost of an end with the body a tenth lower than usual, four times that at two tenths; counts where motion is bent. */
  end_pose?: number;
  /** What a transition costs more for each earlier answer that took it, so that answers differ. */
  reuse?: number;
}

/** Where a joint is, or how it moves: at a time, throughout an interval, or along a track. */
export interface JointGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** A joint's name or role: "head", "left_hand" … */
  joint: string;
  /** x, y and z in metres; null for a coordinate that does not matter. */
  position?: [number | null, number | null, number | null];
  /** x, y and z in metres per second; null for a coordinate that does not matter. */
  velocity?: [number | null, number | null, number | null];
  /** A CSV file of the joint's trajectory during the interval: columns x, y, z, or seconds, x, y, z from its start; metres, empty cells for what does not matter. */
  track?: string | null;
  /** The trajectory itself instead of a file: x, y and z in metres, spread evenly over the interval. */
  points?: [number, number, number][];
  /** How far from the position is near enough, metres. */
  tolerance_m?: number | null;
}

/** Motion with a label. */
export interface LabelGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Where along the path, metres, before smoothing and rounding; instead of a time. */
  at_m?: number | null;
  /** Or from where */
  start_m?: number | null;
  /** up to where. */
  end_m?: number | null;
  /** What clips are labelled: "walk", "jump" … */
  label: string;
}

/** Where a landmark of a face is at a time, or along which track during an interval. */
export interface LandmarkGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Its number. */
  landmark: number;
  /** x, y and z in millimetres; null for a coordinate that does not matter. */
  position_mm?: [number | null, number | null, number | null];
  /** A trajectory instead of a position, spread evenly over the interval. */
  points_mm?: ([number | null, number | null, number | null])[];
}

/** A motion that some joints take over. */
export interface LayerRequest {
  /** The motion that is laid over, as a file; one of another body is retargeted. */
  upper?: string;
  /** How much it counts: 0 leaves the motion as it is, 1 shows the other alone. */
  share?: number;
  /** Which joints: all above the hips, both arms, one of them, or neck and head. */
  mask?: "upper" | "arms" | "left_arm" | "right_arm" | "head";
  /** Shares of single joints, by name or role, instead of the mask's; joints below them stay as the mask has them. */
  joint_shares?: Record<string, number>;
  /** Joints at the mask's lower edge over which the share rises, so that the trunk bends evenly. */
  feather?: number;
  /** What the mask's first joint keeps to: where the body faces, so that the chest stays as upright as it was; or its parent, so that it leans and twists as the hips do. */
  keep_to?: "body" | "parent";
  /** When it begins in the motion. */
  at_s?: number;
  /** Where it begins in the motion that is laid over. */
  start_s?: number;
  /** How long it takes to come and to go. */
  fade_s?: number;
  /** Whether it begins anew where it ends, faded over, for as long as the motion lasts. */
  repeat?: boolean;
  /** Times as fast as it was recorded. */
  rate?: number;
}

/** How a statistical model is learned from recordings. */
export interface LearnSettings {
  /** Frames per second of the model. */
  rate_hz?: number;
  /** How many frames the next one follows from (m); chosen by cross-validation if not given. */
  order?: number | null;
  /** Size of the control input, dim(u); chosen by cross-validation if not given. */
  controls?: number | null;
  /** Size of the pose space (d); 0 chooses by completing held-out motion, and if it is not given, it is as large as `variance` needs. */
  dimensions?: number | null;
  /** Share of the poses' variance that the pose space holds. */
  variance?: number;
  /** Components of the control's mixture (K); 0 chooses by held-out likelihood. One suffices for one behaviour, and then there is one optimum. */
  components?: number;
  /** Labels to learn dynamics of their own for, in one pose space: "walk", "jump" …; none is one for all. */
  behaviours?: string[];
}

/** A cycle of a motion. */
export interface LoopRequest {
  /** Shortest cycle. */
  min_s?: number;
  /** Longest cycle. */
  max_s?: number;
  /** Where the cycle begins, if that is known; else where ends fit best. */
  start_s?: number | null;
  /** Where the cycle ends, if that is known. */
  end_s?: number | null;
  /** Whether the cycle goes straight on: the turn that it makes is taken out. */
  straight?: boolean;
  /** Whether it stays where it is: the way that it makes is taken out. */
  in_place?: boolean;
  /** How often the result repeats it. */
  cycles?: number;
  /** Whether standing feet are held where they stand. */
  clean?: boolean;
}

/** Two people come together and play a pair of recordings, each one part of it. The pair may be two recordings of one moment, such as two dancers' in one world frame: then they are to each other as they were. Or any two clips, with `offset` saying where the second one is. */
export interface Meeting {
  /** When, from the motions' first frames. */
  at_s: number;
  /** Two characters. */
  who: [string, string];
  /** What each shows then: a frame of a clip of the character's graph, at the clip's own rate. */
  poses: [PoseSource, PoseSource];
  /** How long both play on from there, uncut. */
  duration_s?: number;
  /** x and z of the first one's torso at that time, metres; null for wherever suits the first. */
  place?: [number, number] | null;
  /** Where the first one faces then; given with the place, or not at all. */
  facing_deg?: number | null;
  /** Where the second one is at that time; null for as it was recorded. */
  offset?: Offset | null;
}

/** Something to keep clear of: it stands on the floor, hangs above it, or moves. */
export interface Obstacle {
  /** Centre of a circle, x and z, metres. */
  centre?: [number, number] | null;
  /** Radius of the circle. */
  radius_m?: number | null;
  /** Corner of a box with the least x and z, metres. */
  low?: [number, number] | null;
  /** Corner of the box with the greatest x and z. */
  high?: [number, number] | null;
  /** Corners of a polygon in order, x and z, metres. */
  corners?: [number, number][] | null;
  /** Ends of a line, such as a wall or a bar, x and z, metres. */
  ends?: [[number, number], [number, number]] | null;
  /** Thickness of the line. */
  thickness_m?: number;
  /** Height of its upper edge; null for unlimited. */
  height_m?: number | null;
  /** Height of its lower edge; above 0 it is a bar to pass under. */
  base_m?: number;
  /** Distance to keep from it. */
  clearance_m?: number;
  /** What keeps that distance: every part of the body, or the hips alone. */
  of?: "body" | "hips";
  /** How much it counts. */
  weight?: number;
  /** How it moves over time, in order; it stands where it is until the first. */
  moves?: ObstacleMove[];
}

/** Where an obstacle is from a moment on, and how fast it moves from there. */
export interface ObstacleMove {
  /** From when on. */
  at_s: number;
  /** Its middle, x and z, metres; null while it is not there. */
  place?: [number, number] | null;
  /** x and z, m/s. */
  velocity?: [number, number];
  /** Radius from then on, of circles; null for no change. */
  radius_m?: number | null;
}

/** What is in the way, for verbs that look at nothing else of a scene. */
export interface ObstacleScene {
  /** What to keep clear of: a list, or a CSV file with t,id,x,z,radius, whose radius is that within which the hips may not come. */
  obstacles?: Obstacle[] | string;
}

/** Where the second of two people is, as the first sees it. */
export interface Offset {
  /** How far to the left. */
  left_m: number;
  /** How far ahead. */
  ahead_m: number;
  /** How far the second is turned against the first; 180 is face to face. */
  turned_deg: number;
}

/** Where a joint is, seen from another one. */
export interface OffsetGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** A joint's name or role. */
  joint: string;
  /** The joint that it is seen from. */
  of: string;
  /** x, y and z in the world's directions, metres; null for a coordinate that does not matter. */
  offset: [number | null, number | null, number | null];
  /** How far from that is near enough, metres. */
  tolerance_m?: number | null;
}

/** A path on the floor, from a file, a shape or points. */
export interface PathSource {
  /** A .csv, .json or .svg file; drawing.svg#ID for one line of a drawing. */
  file?: string;
  /** A shape such as eight or circle:radius=4. */
  shape?: string;
  /** Points, x and z, metres. */
  points?: [number, number][];
  /** When each point is reached, seconds from the start; verbs that take a trajectory read it. */
  times?: number[];
  /** Metres per unit of the file, or m, cm …; of a shape, how many times larger. */
  scale?: string | null;
  /** Whether it is mirrored left to right. */
  flip?: boolean;
  /** Length over which it is smoothed. */
  smooth_m?: number;
  /** Radius to which its corners are rounded. */
  round_m?: number;
}

/** A stop on the way. */
export interface PauseGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Where along the path, metres, before smoothing and rounding; instead of a time. */
  at_m?: number | null;
  /** Or from where */
  start_m?: number | null;
  /** up to where. */
  end_m?: number | null;
  /** How long to stand. */
  pause_s: number;
}

/** How a control is matched with segments. What is left out is what suits the examples. */
export interface PerformAdvanced {
  /** Keep one of segments that are alike within so many metres. */
  alike_m?: number;
  /** Time by which a segment may be played shorter or longer. Default: 0.15 s, or 0.2 s where tracks lead. */
  stretch_s?: number | null;
  /** Price of a squared metre between the end of one answer and the start of the next (k), against squared metres between controls, each lasting a second. Default: 0.15 s, or 0.8 s where tracks lead. */
  continuity_s?: number | null;
  /** Steps per second of the search over all segments. Default: 7.5 Hz, or 10 Hz where tracks lead. */
  search_rate_hz?: number | null;
  /** Give up sequences that are so much worse than the best of their length; else the search is exact. */
  beam_m2_s?: number | null;
}

/** A performance to be answered, and how. */
export interface PerformRequest {
  /** The body that leads: a motion file, or the name of one of the examples' clips. */
  leader?: string;
  /** The way that leads: a .csv file of t, x, z (seconds, metres). */
  trajectory?: string;
  /** The way as rows of t, x and z (seconds, metres), instead of a file. */
  samples?: [number, number, number][];
  /** Smooth the way over so many seconds. */
  smooth_s?: number;
  /** Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*, folder:cmu/16. */
  only?: string | null;
  /** Who answered the examples, recorded with them: a folder or a pattern; else each example answers the track of its own hips, unless a body leads and names tell pairs (60_01 and 61_01). */
  answers?: string;
  /** Leaders and followers, by the names of their clips; else names tell them. */
  pairs?: [string, string][] | null;
  /** Cut leaders and followers of different length to the shorter. */
  cut_to_shorter?: boolean;
  /** Cut examples into segments at beats, foot plants or labels; else pairs at beats, walks at plants. */
  cut_at?: "beats" | "plants" | "labels" | null;
  /** Joints that lead, by role and with commas, or track; else hands and feet of a leader. */
  lead_joints?: string[];
  /** How the control is matched with segments. */
  advanced?: PerformAdvanced;
  /** Segments that have to be played at given times. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** Decide as if live, so many seconds after each moment; else with all of the control at hand. */
  lag_s?: number | null;
  /** Leave out the leader's own example: its answer is known, and would be no test and no help. */
  leave_out_own?: boolean;
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  /** How segments become motion. */
  finish?: FinishSettings;
}

/** The space that is searched, what is minimised in it, and what bodies can bear. */
export interface PhysicsAdvanced {
  /** Of the space; else as few as hold 90 % of the examples' variance. */
  dimensions?: number | null;
  /** What the space is around: "moving", what the examples do at the same moment; "free", their mean pose, moved so that it goes through key poses; "fixed", their mean pose, and key poses are brought onto its space. */
  mean?: "moving" | "free" | "fixed";
  /** How short and how long each duration may get where durations are searched too, times as long as given. */
  time_range?: [number, number];
  /** Whether IPOPT tries too where all else fails, for up to a minute; needs the extra `ipopt`. */
  ipopt?: boolean;
  /** Of the objective's parts. */
  weights?: PhysicsWeights;
  limits?: PhysicsLimits;
}

/** How the motion becomes frames. */
export interface PhysicsFinish {
  /** Frames per second to write; else the motion's own. */
  rate_hz?: number | null;
}

/** What body and floor can bear. */
export interface PhysicsLimits {
  /** Force along the floor over the force onto it. */
  friction?: number;
  /** Of one of the four points of a foot. */
  most_force?: number;
  /** Of a foot that carries the body alone: as much as runners' do. */
  most_alone?: number;
  /** Of both feet together; else 4, or what the motion itself shows where that is more. */
  most_together?: number | null;
  /** Times the torques of trained people. */
  strength?: number;
  /** Of the change of the force at one point, at most; else only the weight of rates holds it back. */
  force_rate?: number | null;
}

/** A motion that obeys mechanics, after the sketch that another one makes. */
export interface PhysicsRequest {
  /** Whether the motion is only finished: the smallest change after which it obeys mechanics, of any length, where it stays as natural as it is. `like` then has the recordings that it is made of; of all that else can be asked only the part, the floor and the body count. */
  smallest_change?: boolean;
  /** How much farther it goes than the motion, along its way. */
  farther_m?: number;
  /** How much higher the centre of mass rises in its longest flight. */
  higher_m?: number;
  /** How much farther it turns to the left until its end. */
  turn_deg?: number;
  /** Times as long as the motion. */
  duration_share?: number;
  /** Mean speed along its way, instead of the motion's: the same steps and flights, stances shorter or longer. */
  speed_m_s?: number | null;
  /** Which durations are found too, those that take the least effort: none; those of stances, while flights last as long as their height says; or all, so that flights get lower where they may. */
  timing?: "given" | "stances" | "all";
  /** Where the part of the motion begins that is taken; else at its beginning. */
  start_s?: number | null;
  /** Where it ends. */
  end_s?: number | null;
  /** Poses and places at a time, on the floor or in the air; and where feet stand or hands carry: contacts of feet are then all there are, instead of the motion's, and so are those of hands. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** Whether hands carry too where they rest on the floor in the motion. */
  hands_carry?: boolean;
  /** Motions of the behaviour, whose space is searched: files, folders, patterns, graphs (.mog); else the motion itself. Repeat for more. */
  like?: string[];
  /** Of graphs among these, use only the recordings that a query finds: "jump not turn", person:16. */
  only?: string | null;
  /** How many of these to use at most: those whose contacts and direction are most like the motion's; 0 takes all. */
  nearest?: number;
  /** Height of the floor; else 0, or what the feet stand on. */
  floor_m?: number | null;
  /** Whose motion it is. */
  body?: BodyRequest;
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  /** Iterations of the solver, at most, before it tries otherwise. */
  work_limit?: number;
  advanced?: PhysicsAdvanced;
  finish?: PhysicsFinish;
}

/** What counts how much; the paper's w_T, w_A and w_P come first. */
export interface PhysicsWeights {
  /** Of squared torques, (body weights · m)²: more is more like effort, and slower to find. */
  torque?: number;
  /** Of squared accelerations of joints and root. */
  acceleration?: number;
  /** Of squared distances from the examples' mean pose, the root's height among it, in standard deviations. */
  prior?: number;
  /** Of what legs add to the examples' space, rad²: limbs in contact leave it no farther than needed. */
  slack?: number;
  /** Of squared changes of ground forces, (body weights / s)². */
  rate?: number;
}

/** Where the body is on the floor, where it faces, and along which line it goes. */
export interface PlaceGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** x and z of the hips, metres; if left out, anywhere. */
  place?: [number, number] | null;
  /** Where the body faces: 0 looks along +z, 90 along +x; if left out, anywhere. */
  facing_deg?: number | null;
  /** Direction of a line through the place to keep to, from +z towards +x. */
  heading_deg?: number | null;
  /** Height of the root, metres; if left out, any. */
  height_m?: number | null;
  /** A line instead of a place: x and z in metres; during an interval spread evenly over it. */
  points?: [number, number][];
  /** Instead of a place: a line on the floor to cross, by its two ends. */
  ends?: [[number, number], [number, number]] | null;
  /** Whether both feet are on the floor there, at rest. */
  standing?: boolean;
  /** What to do there: motion with this label, such as sit or pick up. */
  label?: string | null;
  /** How far from the place is near enough, metres. */
  tolerance_m?: number | null;
  /** How far from the facing is near enough, degrees. */
  tolerance_deg?: number | null;
}

/** How the search goes about it. */
export interface PlanAdvanced {
  /** Size of the cells of which the search keeps the cheapest way into each; what is proved, is within it. */
  lattice_m?: number;
  /** Size of the cells of headings. */
  lattice_deg?: number;
  /** Heuristic weight of the first answer, which is that near to the best; it then goes down to 1. */
  first_weight?: number;
  /** Whether steps that do what others do are left out: auto looks among all of them where there is no answer without, or time is left. */
  compression?: "auto" | "on" | "off";
  /** Whether it goes on, once its answer is proved to be the best and time is left: in cells half as large, and then among the steps that compression left out. */
  refine?: boolean;
  /** How much farther than it must the search keeps from things, so that finishing does not touch them. */
  margin_m?: number;
  /** How often the search begins again, farther from what a finished motion touched. */
  repairs?: number;
  /** Memory that the search may use; when it is used up, the best answer so far is the answer. */
  memory_mb?: number;
}

/** From here to there through a scene. */
export interface PlanRequest {
  /** Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*, folder:cmu/16. */
  only?: string | null;
  start?: Start;
  /** Places to pass in order, each a `place` or the `ends` of a line; the last is where the motion ends, and can have a facing, a label, a pose, or be `standing`. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** What is in the way, and the ground. */
  scene?: Scene;
  /** A path to keep near, such as route.svg:tolerance=0.8. */
  path?: Corridor | string | null;
  /** What to make least: squared accelerations of the joints, time, way, or squared torques of the joints. */
  objective?: "effort" | "time" | "length" | "torque";
  /** Whether steps may be blends of recorded ones; without, it is a plain motion graph. */
  interpolation?: boolean;
  /** How many different answers. */
  count?: number;
  /** How far from each other the ways of two answers must be somewhere. */
  apart_m?: number;
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  /** How long to search; it ends sooner where nothing better is possible. */
  time_limit_s?: number;
  /** States to expand at most, instead of a time: the same number gives the same answer anywhere. */
  work_limit?: number | null;
  /** The search ends when its answer is proved to cost no more than this many times the best. */
  bound_ratio?: number;
  /** How the plan becomes motion. */
  finish?: FinishSettings;
  advanced?: PlanAdvanced;
}

/** A pose at a time, or the poses of a recording from then on: where it is given, or where the motion leads. */
export interface PoseGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** The pose, such as {clip: walk, frame: 40}. */
  pose: PoseSource;
  /** x and z of the hips, metres; if left out, anywhere. */
  place?: [number, number] | null;
  /** Where the body faces: 0 looks along +z, 90 along +x; if left out, anywhere. */
  facing_deg?: number | null;
  /** Height of the root, metres; if left out, the pose's or any. */
  height_m?: number | null;
  /** Whether it is where it was recorded, instead of a place and a facing. */
  as_recorded?: boolean;
  /** How long the recording goes on from at_s; or give start_s and end_s. */
  duration_s?: number;
  /** How far from the place is near enough, metres. */
  tolerance_m?: number | null;
  /** How far joints may be turned away from the pose, on average, degrees. */
  tolerance_deg?: number | null;
}

/** A pose: a frame of a clip or of a file, or its own root and rotations. */
export interface PoseSource {
  /** A clip by its name; */
  clip?: string | null;
  /** which frame of it, at its own rate. */
  frame?: number;
  /** A motion file instead of a clip's name. */
  file?: string | null;
  /** A pose of its own: where the root joint is, metres, */
  root?: [number, number, number] | null;
  /** and how each joint of the skeleton, in its order, is turned in the joint above it: unit quaternions w, x, y, z. */
  rotations?: [number, number, number, number][];
}

/** A body that a motion is put on. */
export interface RetargetRequest {
  /** File of the body: a character (.glb, .vrm, .fbx), a skeleton (.asf), or any motion file whose skeleton it is. */
  to?: string;
  /** Joints of the body whose role is not found, such as left_foot=L_Ankle. */
  roles?: Record<string, string>;
  /** Joints of the body, with the joint of the motion that each takes its rotation from; nothing behind = for none. */
  joint_map?: Record<string, string>;
  /** Whether standing feet are held where they stand. */
  clean?: boolean;
  /** Whether it goes where the motion goes, rather than as much farther as its legs are longer. */
  keep_way?: boolean;
  /** Whether hands that touch each other, the body or the floor do so on the other body, too. */
  touch_hands?: boolean;
}

/** What the program may do, and how its answer becomes frames. */
export interface RetimeAdvanced {
  /** Frames per second of the result in which the program counts; velocities and accelerations span two of them. */
  program_hz?: number;
  /** Samples of the motion for each of these at its recorded pace: the finer, the smoother the rates it can choose. None for about 10 over the mean rate, as a power of two from 2 to 16. */
  samples_per_step?: number | null;
  /** How many of the nearest moments of the references are averaged: K in the paper. None for 5, and for 1 where a motion is guided by itself: the moment itself, at its own pace. */
  neighbours?: number | null;
  /** How fast any part may be shown; None for two to three times what the key times need. */
  largest_rate?: number | null;
  /** How slowly any part may be shown; None for a third to a half of what the key times need. */
  smallest_rate?: number | null;
  /** Where the joints are slower than this on average, the motion stands still. */
  still_m_s?: number;
  /** Shorter moments of stillness are part of the movement. */
  still_s?: number;
  /** How fast still stretches are shown; 0 to leave them to the program. None for the mean rate between the key times around them; of a motion that is guided by itself, for the rate that leaves the rest its recorded pace, as far as `largest_rate` and `smallest_rate` allow. */
  still_rate?: number | null;
  /** How far the warp may differ from the straight line between key times, in the motion's time. */
  band_s?: number;
  /** Moments of the references for each of their seconds, fewer where they are long; None for 60, and for all where a motion is guided by itself. */
  reference_hz?: number | null;
  /** Whether frames are chosen for even times (steps) or times for even frames (durations, the inverse problem). */
  direction?: "auto" | "steps" | "durations";
  /** local: averages as wide as the compression, nothing elsewhere; uniform: `uniform_s` everywhere; none. */
  smoothing?: "local" | "uniform" | "none";
  /** Width (standard deviation) of the uniform smoothing. */
  uniform_s?: number;
  weights?: RetimeWeights;
}

/** How the frames that the warp shows become a finished motion. */
export interface RetimeFinish {
  /** Whether standing feet are held where they stand. */
  clean?: boolean;
  /** Whether single frames at which the capture slipped are put between their neighbours: a motion that has less standing in it shows them more. */
  repair?: boolean;
  /** Frames per second of the motion; its own if not given. */
  rate_hz?: number | null;
}

/** The same poses, in the same order, with another timing. */
export interface RetimeRequest {
  /** How long the motion shall last; else as long as it does, or as the key times say. */
  duration_s?: number | null;
  /** When frames of the motion, at its own rate, shall be shown; repeat for more. */
  keys?: Record<string, number>;
  /** Motions whose timing is liked, as files; from a folder, a pattern or a motion graph (.mog) those nearest in poses at the wanted mean speed. The motion's own timing guides if none is given. Repeat for more. */
  like?: string[];
  /** Share of the spline warp through the key times in the result: 0 is guided, 1 the spline alone. */
  spline_share?: number;
  finish?: RetimeFinish;
  advanced?: RetimeAdvanced;
}

/** What the program pays for besides the distance to the references. */
export interface RetimeWeights {
  /** Weight of leaving the pace that similar poses have in the references, each sample by itself, at a tempo that fits the key times. None for 3 with references and 0 for a motion that is guided by itself. */
  pace?: number | null;
  /** Weight of the squared change of the rate from one step to the next: without it a program skips the top of a jump, where a body hardly moves. */
  change?: number;
}

/** What is in the way, and the ground; a verb says which of it it looks at. */
export interface Scene {
  /** What to keep clear of: a list, or a CSV file with t,id,x,z,radius, whose radius is that within which the hips may not come. */
  obstacles?: Obstacle[] | string;
  /** Holes in the floor: no foot stands there, but on stones. */
  gaps?: Shape[];
  /** Where a foot must step, in order. */
  stones?: Shape[];
  /** Where no foot may step. */
  keep_off?: Shape[];
  /** What to step over. */
  step_over?: StepOver[];
  /** Height of the floor; measured from the feet if not given. */
  floor_m?: number | null;
  /** An SVG floor plan, whose layers are named after the parts of a scene. */
  drawing?: string;
}

/** At some time one of some segments is played. */
export interface SegmentGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Numbers of segments, as a segment list has them. */
  segments: number[];
}

/** An outline on the floor: a circle, a box along the axes, a polygon, or a thick line. */
export interface Shape {
  /** Centre of a circle, x and z, metres. */
  centre?: [number, number] | null;
  /** Radius of the circle. */
  radius_m?: number | null;
  /** Corner of a box with the least x and z, metres. */
  low?: [number, number] | null;
  /** Corner of the box with the greatest x and z. */
  high?: [number, number] | null;
  /** Corners of a polygon in order, x and z, metres. */
  corners?: [number, number][] | null;
  /** Ends of a line, such as a wall or a bar, x and z, metres. */
  ends?: [[number, number], [number, number]] | null;
  /** Thickness of the line. */
  thickness_m?: number;
}

/** A whole face at a time: weights of its shapes; or as a pose goal, a frame of a recording. */
export interface ShapeGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Weights of shapes, from 0 to 1: {JawOpen: 0.6}; the others are 0. */
  shapes: Record<string, number>;
}

/** How the search goes about it. */
export interface SolveAdvanced {
  /** Greatest cost of a cut (τ); if not given it follows from the motion. */
  max_cut_cost?: number | null;
  weights?: SolveWeights;
  /** Seed paths that are drawn for each one that is improved. */
  draws?: number;
  /** How many of the ways to replace a stretch by two cuts are scored at a time, if there are more. */
  sample?: number;
}

/** Motion from goals. Times are in seconds from its first frame; it has a frame at 0 and one at `duration_s`. The score of an answer is measured so that 30 cm, 10° and a second without the label asked for cost 1 each, at a weight of 1. */
export interface SolveRequest {
  /** Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*, folder:cmu/16. */
  only?: string | null;
  /** How long the motion lasts. */
  duration_s: number;
  /** Places, joints, poses, labels and functions, each at a time; an `exact` pose is in every answer. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[];
  /** What the hips keep clear of: its obstacles. One `of: hips` is kept clear of by its clearance, any other by 0.3 m more. */
  scene?: Scene;
  /** Least length of a piece of a clip; without it the search chatters. */
  min_piece_s?: number;
  /** How many different answers, at most. */
  count?: number;
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  /** How long to search, for all people together. */
  time_limit_s?: number;
  /** How many paths to score instead of a time: the same on any machine. */
  work_limit?: number | null;
  /** Same seed, same work limit: same answers. */
  seed?: number;
  /** Two answers differ if their roots are at one moment farther from each other than this. */
  apart_m?: number;
  /** What each of several people is asked for, by name; empty for one person. */
  characters?: Record<string, Character | null>;
  /** Where and when two of them come together, in order of time. */
  meet?: Meeting[];
  advanced?: SolveAdvanced;
  /** How the answers become motion. */
  finish?: FinishSettings;
}

/** What counts besides goals. */
export interface SolveWeights {
  /** What a cut at the greatest cost allowed adds to the score. With a third of that answers are no nearer to the goals, and 10 % farther from recorded poses. */
  cut?: number;
}

/** How fast the body goes and turns, and where the torso faces meanwhile. */
export interface SpeedGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** Where along the path, metres, before smoothing and rounding; instead of a time. */
  at_m?: number | null;
  /** Or from where */
  start_m?: number | null;
  /** up to where. */
  end_m?: number | null;
  /** How fast it goes along the floor. */
  speed_m_s?: number | null;
  /** How fast it turns to the left. */
  turn_deg_s?: number | null;
  /** Where the torso faces, from the direction of travel. */
  torso_deg?: number | null;
}

/** Where the motion begins. */
export interface Start {
  /** Place of the hips, x and z, metres. */
  place?: [number, number];
  /** Where they face: 0 looks along +z, 90 along +x. */
  facing_deg?: number;
  /** Whether it begins with both feet on the floor, at rest; if not, also in the middle of a walk. */
  standing?: boolean;
}

/** What costs how much, and how far ahead. */
export interface SteerAdvanced {
  /** Time after which costs count e times less than now. */
  discount_s?: number;
  /** What counts how much. */
  weights?: SteerWeights;
}

/** A character steered by goals over time. */
export interface SteerRequest {
  /** Use only the recordings that a query finds: "walk or run", "veer* not stop", person:16, clip:16_*, folder:cmu/16. */
  only?: string | null;
  /** A path to follow from the start on, such as circle:radius=4. */
  path?: PathSource | string | null;
  /** What to do when: lines to keep to (`place` and `heading_deg`, or `points`), `speed_m_s`, `turn_deg_s`, `torso_deg`, `label`. Goals with the same `at_s` hold together until the next ones; what they leave out is open. A CSV file does too: t,x,z,heading_deg,speed and optionally gait,torso_deg,spin_deg_s. */
  goals?: (PlaceGoal | PoseGoal | JointGoal | TurnGoal | AngleGoal | DistanceGoal | OffsetGoal | ViewGoal | ContactGoal | LabelGoal | SpeedGoal | PauseGoal | SegmentGoal | CostGoal | LandmarkGoal | ShapeGoal)[] | string;
  /** What is in the way: discs, which may move. */
  scene?: ObstacleScene;
  start?: SteerStart;
  /** How long the motion lasts. */
  duration_s?: number;
  /** What the policy learns to do: keep to lines, turn at a rate, or keep to lines and clear of obstacles. */
  task?: "navigate" | "spin" | "avoid";
  /** Whether each recording counts as its mirror image too. */
  mirror?: boolean;
  /** A task of your own, as FILE.py:CLASS, that counts beside the others. */
  own_task?: string;
  /** How the policy is learned: by a linear program, or only by the fit that it begins with, which takes less time. */
  learning?: "program" | "fit";
  /** How good against how soon: draft for a first look, best where time does not matter. */
  quality?: "draft" | "normal" | "best";
  advanced?: SteerAdvanced;
  /** How recorded steps become motion. */
  finish?: FinishSettings;
}

/** Where the character begins. */
export interface SteerStart {
  /** x and z of the character, metres; on the first goal's line if not given. */
  place?: [number, number] | null;
  /** Direction of travel at the start, from +z; along the first goal's line if not given. */
  facing_deg?: number | null;
}

/** What counts how much. A cost of 1 is a second at a metre from the line. */
export interface SteerWeights {
  /** Cost of a second at 1 m from the line. */
  deviation?: number;
  /** Cost of a second in a direction that is 1 rad (57°) off. */
  direction?: number;
  /** Cost of a blend between two recordings that fit each other as well as the best usually do; one between bodies twice as far apart costs four times as much. */
  blend?: number;
  /** Cost of a second without the label of the goal. */
  label?: number;
  /** Cost of a second at 1 m/s off the speed of the goal. */
  speed?: number;
  /** Cost of a second with the torso 1 rad off its direction. */
  torso?: number;
  /** Cost of a second at 1 rad/s off the turning rate of the goal. */
  turn?: number;
  /** Cost of a second within an obstacle. */
  obstacle?: number;
  /** Cost of a second of standing where the goal has no speed, no turn and no label that stands; less the faster the character is, nothing from walking speed on. */
  idle?: number;
  /** Cost of a step that is bent as far as it may be. */
  bend?: number;
}

/** Something low on the floor to step over: no part of the body may touch it. */
export interface StepOver {
  /** Centre of a circle, x and z, metres. */
  centre?: [number, number] | null;
  /** Radius of the circle. */
  radius_m?: number | null;
  /** Corner of a box with the least x and z, metres. */
  low?: [number, number] | null;
  /** Corner of the box with the greatest x and z. */
  high?: [number, number] | null;
  /** Corners of a polygon in order, x and z, metres. */
  corners?: [number, number][] | null;
  /** Ends of a line, such as a wall or a bar, x and z, metres. */
  ends?: [[number, number], [number, number]] | null;
  /** Thickness of the line. */
  thickness_m?: number;
  /** Height. */
  height_m: number;
}

/** How a joint is turned in the world. */
export interface TurnGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** A joint's name or role. */
  joint: string;
  /** Unit quaternion w, x, y, z of its rotation against the world. */
  rotation: [number, number, number, number];
  /** How far it may be turned away from that, degrees. */
  tolerance_deg?: number | null;
}

/** Where a camera sees a joint. */
export interface ViewGoal {
  /** When, from the motion's first frame; or an interval, from start_s to end_s. */
  at_s?: number | null;
  /** Instead of at_s: from when */
  start_s?: number | null;
  /** until when. */
  end_s?: number | null;
  /** How much it counts. */
  weight?: number;
  /** Whether the finished motion does exactly so; if left out, the verb decides. */
  exact?: boolean | null;
  /** A joint's name or role. */
  joint: string;
  /** The camera. */
  camera: Camera;
  /** Across and down the picture: (0, 0) is the upper left corner, (1, 1) the lower right one. */
  seen: [number, number];
}

/** What is asked of each verb, by its name. */
export interface Requests {
  follow: FollowRequest;
  solve: SolveRequest;
  plan: PlanRequest;
  perform: PerformRequest;
  steer: SteerRequest;
  complete: CompleteRequest;
  face: FaceRequest;
  retime: RetimeRequest;
  bend: BendRequest;
  physics: PhysicsRequest;
  retarget: RetargetRequest;
  dynamics: DynamicsRequest;
  loop: LoopRequest;
  layer: LayerRequest;
}
