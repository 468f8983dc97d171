/** How fast hands and feet of a motion move, to be drawn over time. */

import type { Motion } from "../messages";
import type { Place } from "../types";
import type { Speed } from "./warpchart";

const SPEED_SAMPLES = 120;

/** How fast hands and feet of a motion move. */
export function speedsOf(motion: Motion, place: (joint: number, frame: number) => Place): Speed[] {
  const step = Math.max(1, Math.ceil(motion.frames / SPEED_SAMPLES));
  const speeds: Speed[] = [];
  for (const [kind, pattern] of [["hand", /hand|wrist/i], ["foot", /foot|ankle/i]] as const) {
    for (const [side, begins] of [["left", /left|^l/i], ["right", /right|^r/i]] as const) {
      const joint = motion.joints.findIndex((name) => pattern.test(name) && begins.test(name));
      if (joint < 0) continue;
      const speed: Speed = { name: `${side} ${kind}`, kind, side, seconds: [], m_s: [] };
      for (let frame = 0; frame < motion.frames; frame += step) {
        const [low, high] = [Math.max(frame - 1, 0), Math.min(frame + 1, motion.frames - 1)];
        if (high === low) continue;
        const [a, b] = [place(joint, low), place(joint, high)];
        speed.seconds.push(frame / motion.fps);
        speed.m_s.push((Math.hypot(b.x - a.x, b.y - a.y, b.z - a.z) * motion.fps) / (high - low));
      }
      speeds.push(speed);
    }
  }
  return speeds;
}
