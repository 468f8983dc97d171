/** Interfaces between the parts of the page; what travels to and from the server is in messages.ts. */

import type {
  CharacterFacts,
  ProjectDocument,
  DocumentState,
  Job,
  JobAsk,
  LiveFacts,
  Motion,
  Plain,
  Project,
  Pulled,
  ToPage,
  VerbFacts,
  View,
} from "./messages";

// ---------------------------------------------------------------- state

/** "outdated": the server was upgraded under the page, which must be reloaded. */
export type Connection = "connecting" | "live" | "lost" | "outdated";

/** The project as the page knows it, and what is only the page's. Replaced, never changed in place. */
export interface State extends Project {
  /** What can be asked for, from the server's registry. */
  verbs: readonly VerbFacts[];
  connection: Connection;
  /** Changes that the server has not confirmed yet. */
  unsaved: number;
  /** The last thing worth telling, for the status line and screen readers. */
  status: Status;
}

export interface Status {
  text: string;
  kind: "quiet" | "done" | "error";
}

export interface ChangeOptions {
  /** Milliseconds to wait for more changes of the same label, which become one step of undo; for sliders. */
  settle?: number;
}

export interface Store {
  readonly state: State;
  /** Calls `fn` now, and again whenever the selected value is another one (by Object.is); returns the way out. */
  subscribe<T>(selector: (state: State) => T, fn: (value: T, state: State) => void): () => void;
  /** Change the document: shown at once, then sent; done anew on the newest document if another page was faster. */
  change(label: string, edit: (document: ProjectDocument) => void, options?: ChangeOptions): Promise<void>;
  /** Change what is shown; kept with the project, not undone. */
  setView(view: Partial<View>): void;
  undo(): Promise<void>;
  redo(): Promise<void>;
  /** Say something in the status line (aria-live); errors stay until something else is said. */
  say(text: string, kind?: Status["kind"]): void;
}

// ---------------------------------------------------------------- server

type Of<T extends ToPage["type"]> = Extract<ToPage, { type: T }>;
export type Listener<T extends ToPage["type"]> = (message: Of<T>, frames: Float32Array | null) => void;

/** Where the stage gets motions and figures: the server in the studio, memory in a notebook. */
export interface MotionSource {
  motion(id: string): Promise<Motion>;
  /** Rows of [root x, y, z, then a quaternion x, y, z, w for each joint]. */
  frames(id: string): Promise<Float32Array>;
  figure(skeleton: string): Promise<ArrayBuffer>;
  /** The motion on the character who is seen instead of the mannequin; null where there is none. */
  worn?(id: string): Promise<Worn | null>;
  /** How poses of a body are put on the character while they come; null where there is none. */
  live?(skeleton: string): Promise<LiveWorn | null>;
}

/** A character that wears poses of a body. */
export interface LiveWorn {
  character: string;
  facts: LiveFacts;
  figure: () => Promise<ArrayBuffer>;
}

/** A motion on somebody's own character. */
export interface Worn {
  /** Of its figure. */
  character: string;
  motion: Motion;
  frames: Float32Array;
  figure: () => Promise<ArrayBuffer>;
}

/** The server did not do it; `message` is its sentence. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** The field that it is about. */
    readonly where: string | null = null,
  ) {
    super(message);
  }
}

export interface AskOptions {
  /** The motion that the verb works on, if it changes one. */
  subject?: string | null;
  /** Another request follows soon, as while something is dragged: its results take the place of these. */
  passing?: boolean;
}

export interface Api extends MotionSource {
  get<T>(path: string): Promise<T>;
  send<T>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T>;
  /** What is answered to a request as plain text. */
  text(path: string, body: Plain | object): Promise<string>;
  upload(files: File[], onProgress?: (share: number) => void): Promise<Job>;
  /** Take a character into the project; a .glb, .vrm or .fbx file. */
  takeCharacter(file: File): Promise<CharacterFacts>;
  start(ask: JobAsk): Promise<Job>;
  cancel(job: string): Promise<void>;
  /** Ask for motion over the socket; newer asks of a verb replace older ones. Returns the number that answers carry. */
  ask(verb: string, ask: Record<string, Plain>, how?: AskOptions): number;
  /** Places of a performance as they come; with the first, what they are answered by. Its frames carry the number. */
  moved(samples: [number, number, number][], begin: Record<string, Plain> | null, lag_s: number): number;
  /** What would be asked if what is dragged were let go; the motion comes as `partial` with the number of the drag.
      `pull` is a joint of a key pose. */
  drag(ask: Record<string, Plain>, pull: Pulled | null, begin: boolean): number;
  /** Hear a message of the socket; `frames` comes with `partial` and `frame`. Returns the way out. */
  on<T extends ToPage["type"]>(type: T, listener: Listener<T>): () => void;
  /** Frames of this motion are other ones now (trimmed, mirrored, solved anew): fetch them again when asked. */
  forget(motion: string): void;
}

// ---------------------------------------------------------------- panels

/** One verb: *ask* on the left, *see* in the middle, *choose* on the right, *time* below. */
export interface Panel {
  verb: string;
  title: string;
  /** Called once, when the verb is first shown; fill `left`. */
  mount(left: HTMLElement, context: Context): PanelHandle;
}

export interface PanelHandle {
  /** The line above the stage that says what can be done now. */
  hint?(): string;
  /** Put tools and overlays on the stage, markers on the timeline. */
  onShow?(): void;
  /** Take them away. */
  onHide?(): void;
}

export interface Context {
  store: Store;
  api: Api;
  stage: Stage;
  timeline: Timeline;
  /** The right column, filled by results.ts. */
  results: HTMLElement;
  /** Ask the panel for its hint again. */
  refreshHint(): void;
  openExport(motion?: string): void;
  openHelp(): void;
}

// ---------------------------------------------------------------- stage

export interface Place {
  x: number;
  y: number;
  z: number;
}

/** On the floor as [x, z], or anywhere as [x, y, z]. */
export type At = [number, number] | [number, number, number];

export interface PointerAt {
  x: number;
  z: number;
  event: PointerEvent;
}

/** What pressing on the floor does; the camera turns where no tool takes the press. */
export interface FloorTool {
  cursor?: string;
  /** True takes the gesture: mouse, pen or one finger. */
  down(at: PointerAt): boolean;
  move?(at: PointerAt): void;
  up?(at: PointerAt): void;
  /** The gesture became another one (second finger, Escape). */
  cancel?(): void;
  /** The pointer moves without a button; null when it leaves the floor. */
  hover?(at: PointerAt | null): void;
  doubleClick?(at: PointerAt): void;
}

export interface DragHooks {
  /** What moving means: along the floor (default), straight up and down with Shift too, only up and down, turning about
      its place, or in the plane through its place that faces the camera. */
  kind?: "floor" | "space" | "upright" | "turn" | "view";
  label?: string;
  start?(): void;
  /** Where the pointer is; for "turn", `heading` is the angle about +y from +z. */
  move(at: Place, heading: number): void;
  end?(): void;
  click?(event: PointerEvent): void;
  doubleClick?(event: PointerEvent): void;
  /** Delete or Backspace while it is the last one that was pressed. */
  remove?(): void;
  /** Arrow keys while it is the last one pressed move by 5 cm (Shift: 50 cm) through `move`, then `end`. */
}

export interface Overlay {
  visible: boolean;
  remove(): void;
  /** Make it something to press; null takes that away. Returns the overlay. */
  draggable(hooks: DragHooks | null): this;
}

export interface LineStyle {
  colour: string;
  /** Pixels. */
  width: number;
  dashed: boolean;
  opacity: number;
}

export interface LineOverlay extends Overlay {
  update(points: readonly At[], style?: Partial<LineStyle>): void;
}

export interface ArrowOverlay extends Overlay {
  /** Heading: angle about +y from +z, radians; the length in metres. */
  update(at: At, heading: number, style?: { colour?: string; length?: number }): void;
}

export interface SphereOverlay extends Overlay {
  update(at: At, style?: { colour?: string; radius?: number; label?: string }): void;
}

export type Solid =
  | { kind: "box"; at: At; size: [number, number, number]; yaw?: number }
  | { kind: "cylinder"; at: At; radius: number; height: number }
  | { kind: "sphere"; at: At; radius: number };

export interface SolidOverlay extends Overlay {
  update(solid: Solid, style?: { colour?: string; opacity?: number }): void;
}

export interface GhostOverlay extends Overlay {
  /** Show this frame, moved on the floor by a turn about +y and a shift, in this order. */
  update(frame: number, floor?: { yaw: number; x: number; z: number }, style?: { colour?: string }): void;
}

/** A figure that is moved as frames arrive. */
export interface LiveOverlay extends Overlay {
  /** Root x, y, z, then x, y, z, w for each joint. */
  update(row: ArrayLike<number>): void;
  /** Where who is seen is. */
  where(): Place;
}

/** An arrow in space. */
export interface VectorOverlay extends Overlay {
  /** From a place, along a vector, both x, y, z in metres; one without length is not drawn. */
  update(from: readonly number[], along: readonly number[], colour?: string): void;
}

/** Many dots at once. */
export interface DotsOverlay extends Overlay {
  update(at: readonly At[], colour?: string): void;
}

/** Values on a square of the floor. */
export interface HeatOverlay extends Overlay {
  /** Cells from 0 to 255, rows along z, about a place. */
  update(x: number, z: number, half: number, size: number, cells: readonly number[]): void;
}

export interface TextOverlay extends Overlay {
  update(at: At, text: string, colour?: string): void;
}

export interface ShowOptions {
  /** The frame to begin at; "same" keeps the time, as does showing again what is shown already. Default 0. */
  from?: number | "same";
  /** Colours of paths, one per motion. */
  colours?: string[];
  /** Whether figures of different results are tinted, to be compared; else all are clay. Default true. */
  tinted?: boolean;
}

export interface Cost {
  mean: number;
  p95: number;
  frames: number;
}

export interface Stage {
  readonly element: HTMLElement;
  readonly player: Player;
  readonly floor: Floor;
  readonly camera: StageCamera;
  /** The motions that are on the stage; the first is the timeline's. */
  readonly shown: readonly Motion[];
  /** Show motions; what was there keeps playing until they are loaded. `store.setView({shown})` calls this. */
  show(motions: readonly string[], options?: ShowOptions): Promise<void>;
  /** The motions that were last asked for, and when they are there. */
  readonly wanted: readonly string[];
  readonly loaded: Promise<void>;
  /** Show frames of an ask while they arrive; replaces what is shown once so many (a second's worth) are there. Time
      begins anew. */
  stream(number: number, motion: Motion, start: number, frames: Float32Array, worth?: number): void;
  /** Show a whole motion that changes, as while something is dragged or optimised, in place of the first one's frames:
      time goes on, until motions are shown anew. */
  preview(motion: Motion, frames: Float32Array): void;
  /** Figures stand beside each other instead of where they are. */
  sideBySide: boolean;
  /** World place of a joint of a shown motion at a frame; null before it is loaded. */
  jointAt(motion: string, joint: number, frame: number): Place | null;
  /** Where joints of any motion are, at whole frames, once it is loaded. */
  joints(motion: string): Promise<(joint: number, frame: number) => Place>;
  /** The joint under the pointer, of whom. */
  pickJoint(event: PointerEvent): { motion: string; joint: number; name: string } | null;
  /** Where the pointer meets the plane through a place that faces the camera. */
  facing(event: PointerEvent, through: Place): Place | null;
  /** Where a place is in the window, pixels. */
  onScreen(at: Place): { x: number; y: number };
  /** Root x, y, z, then x, y, z, w of each joint, of the first motion at a whole frame; null where there is none. */
  row(frame: number): Float32Array | null;

  addLine(points: readonly At[], style?: Partial<LineStyle>): LineOverlay;
  addArrow(at: At, heading: number, style?: { colour?: string; length?: number }): ArrowOverlay;
  addSphere(at: At, style?: { colour?: string; radius?: number; label?: string }): SphereOverlay;
  addSolid(solid: Solid, style?: { colour?: string; opacity?: number }): SolidOverlay;
  addGhost(motion: string, frame: number, style?: { colour?: string }): GhostOverlay;
  addText(at: At, text: string, colour?: string): TextOverlay;
  addLive(skeleton: string, colour?: string, opacity?: number): LiveOverlay;
  addHeat(): HeatOverlay;
  addDots(at: readonly At[], colour?: string): DotsOverlay;
  addVector(): VectorOverlay;
  /** Colour the bones of a shown motion's figure by values from 0 to 1, red beyond; null takes that away. */
  colourBones(motion: string, values: ArrayLike<number> | null): void;

  /** Options of the view that the stage itself knows. */
  setView(view: Partial<StageView>): void;
  /** Main-thread milliseconds per drawn frame, lately. */
  cost(): Cost;
  /** A PNG of what is seen. */
  picture(): Promise<Blob>;
  dispose(): void;
}

export type StageView = Pick<View, "theme" | "ghosts" | "ghost_every" | "paths" | "contacts" | "follow_camera">;

export interface Floor {
  /** The tool that presses on the floor go to; null gives them to the camera. */
  setTool(tool: FloorTool | null): void;
  /** Where a pointer meets the floor; null in the sky. */
  under(event: PointerEvent): { x: number; z: number } | null;
}

export interface StageCamera {
  /** 1 three quarters, 2 front, 3 side, 4 back, 5 from above. */
  view(number: number): void;
  /** Bring these places into view. */
  frame(points: readonly At[]): void;
  follow: boolean;
  /** Whether it stays where somebody drew or moved something, as long as the figure is in the picture. */
  held: boolean;
  /** Angle about +y from +z at which it stands. */
  readonly azimuth: number;
  /** How it stands: where, what is in the middle of its picture, and its lens. */
  shot(): { position: [number, number, number]; target: [number, number, number]; field_of_view_deg: number; aspect: number };
  /** Go after somebody who is here now, if it follows. */
  track(x: number, z: number, seconds: number, jump: boolean): void;
}

export interface Player {
  readonly playing: boolean;
  /** With its fraction. */
  readonly frame: number;
  readonly frames: number;
  readonly fps: number;
  loop: boolean;
  speed: number;
  play(): void;
  pause(): void;
  toggle(): void;
  seek(frame: number): void;
  /** Pause and go by whole frames. */
  step(frames: number): void;
  /** Calls `fn` whenever any of these changed, at most once per drawn frame. */
  subscribe(fn: (player: Player) => void): () => void;
}

// ---------------------------------------------------------------- timeline

export interface Marker {
  frame: number;
  /** Read out and shown on hover. */
  label: string;
  colour?: string;
  /** Makes it something to drag. */
  move?(frame: number, done: boolean): void;
  click?(): void;
  /** Delete or Backspace while it has the focus. */
  remove?(): void;
}

/** Frames of the motion that is shown; below 0 and past its end are those that were cut away before. */
export interface TrimRange {
  start: number;
  stop: number;
  /** How far out the handles go; the timeline is as long. */
  least: number;
  most: number;
  change(start: number, stop: number, done: boolean): void;
}

/** Frames [start, stop). */
export interface Span {
  start: number;
  stop: number;
}

/** Rows of spans that can be painted, each by number. */
export interface Lanes {
  rows: readonly { name: string; spans: readonly Span[] }[];
  paint(row: number, span: Span): void;
  change(row: number, index: number, span: Span): void;
  remove(row: number, index: number): void;
}

export interface Timeline {
  /** Rows over the strips of feet; null takes them away. */
  setLanes(lanes: Lanes | null): void;
  setMarkers(markers: readonly Marker[]): void;
  /** Two handles and a shade outside of them; null takes them away. */
  setRange(range: TrimRange | null): void;
  /** What a double click does, at this frame; null for nothing. */
  setDoubleClick(act: ((frame: number) => void) | null): void;
  /** Show less or more of the motion, around the frame that is shown. */
  zoom(way: "in" | "out"): void;
}

export type { ProjectDocument, DocumentState, Motion, View };
