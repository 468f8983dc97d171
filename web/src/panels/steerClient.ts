/** A client of the steering stream: says goals as JSON, hears a hello and then binary frames. Nothing of it is the
    studio's own: copy this file to steer from any page. The messages are described in docs/steer.md. */

export interface SteerHello {
  type: "hello";
  protocol: number;
  rate_hz: number;
  skeleton: string;
  joints: string[];
  parents: number[];
  offsets: [number, number, number][];
  feet: string[];
  clips: string[];
  gaits: string[];
  tasks: string[];
  fastest_m_s: number;
  header_bytes: number;
  character_bytes: number;
}

export interface SteerGoal {
  character?: number;
  x?: number;
  z?: number;
  heading_deg?: number;
  speed?: number;
  gait?: string;
  torso_deg?: number;
  spin_deg_s?: number;
  points?: [number, number][];
}

export interface SteerObstacle {
  x: number;
  z: number;
  radius: number;
  vx?: number;
  vz?: number;
}

export interface SteerFrame {
  number: number;
  seconds: number;
  /** Frames that this client was too slow for, so far. */
  dropped: number;
  /** Of each character: root x, y, z, then x, y, z, w of each joint. */
  rows: Float32Array[];
  /** The recording that each shows mostly, by its number in the hello, and the frame of it. */
  clips: number[];
  clipFrames: number[];
}

/** What the server says as text, besides the hello. */
export type SteerMessage =
  | { type: "preparing"; stage: string; done: number; total: number }
  | { type: "learned"; tasks: string[]; reports: Record<string, Record<string, number>> }
  | { type: "error"; error: string; where?: string }
  | { type: "added"; character: number }
  | { type: "plan"; character: number; places: [number, number, number][]; outside: string[]; poses?: number[][] }
  | { type: "heat"; character: number; x: number; z: number; half_m: number; size: number; low: number; high: number; cells: number[] }
  | { type: "recording"; on: boolean; character?: number; request?: Record<string, unknown> };

export interface SteerHooks {
  hello(hello: SteerHello): void;
  frame(frame: SteerFrame): void;
  message?(message: SteerMessage): void;
  closed?(reason: string): void;
}

export class SteerClient {
  private readonly socket: WebSocket;

  constructor(address: string, hooks: SteerHooks) {
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      if (typeof data !== "string") {
        const frame = readFrame(data as ArrayBuffer);
        if (frame) hooks.frame(frame);
        return;
      }
      const message = JSON.parse(data) as SteerHello | SteerMessage;
      if (message.type === "hello") hooks.hello(message);
      else hooks.message?.(message);
    };
    this.socket.onclose = ({ reason }) => hooks.closed?.(reason);
  }

  goal(goal: SteerGoal): void {
    this.say({ type: "goal", ...goal });
  }

  obstacles(obstacles: SteerObstacle[]): void {
    this.say({ type: "obstacles", obstacles });
  }

  say(message: object): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close(): void {
    this.socket.onclose = null;
    this.socket.close();
  }
}

/** A frame of bytes; null where it is none. */
export function readFrame(data: ArrayBuffer): SteerFrame | null {
  const view = new DataView(data);
  if (data.byteLength < 32 || view.getUint32(0, false) !== 0x43475331) return null; // "CGS1"
  const [characters, joints] = [view.getUint32(16, true), view.getUint32(20, true)];
  const width = 3 + 4 * joints;
  const bytes = 4 * width + 12;
  if (data.byteLength !== 32 + characters * bytes) return null;
  const starts = Array.from({ length: characters }, (_, n) => 32 + n * bytes);
  return {
    number: view.getUint32(4, true),
    seconds: view.getFloat64(8, true),
    dropped: view.getUint32(24, true),
    rows: starts.map((at) => new Float32Array(data, at, width)),
    clips: starts.map((at) => view.getUint32(at + 4 * width, true)),
    clipFrames: starts.map((at) => view.getFloat32(at + 4 * width + 4, true)),
  };
}
