/** Poses of clips as ghosts: where a clip's frame must be moved to so that it stands at a place and looks somewhere. */

import { clipCalled } from "./clips";
import type { Context, GhostOverlay } from "../types";

type Floor = { yaw: number; x: number; z: number };

export class PoseGhosts {
  private readonly frames = new Map<string, Float32Array | null>();

  /** `loaded` is called when a clip's frames have come. */
  constructor(
    private readonly context: Context,
    private readonly loaded: () => void,
  ) {}

  /** How this frame is moved to stand here, and face there if that is said; null until its frames are loaded. */
  place(clip: string, frame: number, at: [number, number], facing: number | null): Floor | null {
    const id = this.motion(clip);
    const motion = this.context.store.state.clips.find((one) => one.id === id);
    if (!id || !motion) return null;
    const frames = this.frames.get(id);
    if (!frames) {
      if (frames === undefined) this.load(id);
      return null;
    }
    const row = Math.min(Math.max(frame, 0), motion.frames - 1) * (3 + 4 * motion.joints.length);
    const [x, , z, qx, qy, qz, qw] = frames.subarray(row, row + 7) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    // Where the root's +z looks: skeletons at rest do.
    const heading = Math.atan2(2 * (qx * qz + qw * qy), 1 - 2 * (qx * qx + qy * qy));
    const yaw = facing === null ? 0 : facing - heading;
    const [sin, cos] = [Math.sin(yaw), Math.cos(yaw)];
    return { yaw, x: at[0] - (x * cos + z * sin), z: at[1] - (z * cos - x * sin) };
  }

  add(clip: string, frame: number, floor: Floor, colour: string): GhostOverlay {
    const ghost = this.context.stage.addGhost(this.motion(clip)!, frame, { colour });
    ghost.update(frame, floor);
    return ghost;
  }

  private motion(clip: string): string | null {
    return clipCalled(this.context.store.state, clip);
  }

  private load(id: string): void {
    this.frames.set(id, null);
    this.context.api.frames(id).then(
      (frames) => {
        this.frames.set(id, frames);
        this.loaded();
      },
      () => this.frames.delete(id), // told where the clip is asked for
    );
  }
}
