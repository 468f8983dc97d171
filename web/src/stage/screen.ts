/** Between the scene and the picture: what a pointer is over, and how far from it things are in pixels. */

import { Vector2, Vector3, type PerspectiveCamera, type Raycaster } from "three";
import type { Place } from "../types";

/** What a pointer is over: pixels of the canvas, and the ray into the scene. */
export interface Probe {
  x: number;
  y: number;
  width: number;
  height: number;
  camera: PerspectiveCamera;
  ray: Raycaster;
}

const PROJECTED = new Vector3();

/** Where a place is in the picture; false behind the camera. */
export function onScreen(at: Vector3 | Place, probe: Pick<Probe, "width" | "height" | "camera">, out: Vector2): boolean {
  PROJECTED.set(at.x, at.y, at.z).project(probe.camera);
  out.set(((PROJECTED.x + 1) / 2) * probe.width, ((1 - PROJECTED.y) / 2) * probe.height);
  return PROJECTED.z < 1;
}

/** How many pixels a length is at a place. */
export function pixels(at: Vector3, metres: number, probe: Probe): number {
  const depth = at.distanceTo(probe.camera.position);
  return (metres * probe.height) / (2 * depth * Math.tan((probe.camera.fov * Math.PI) / 360));
}

/** How far a point of the picture is from a line between two others. */
export function toSegment(x: number, y: number, a: Vector2, b: Vector2): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const share = length > 0 ? Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / length)) : 0;
  return Math.hypot(a.x + share * dx - x, a.y + share * dy - y);
}
