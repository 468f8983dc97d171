/** Posed ghosts that panels place: a frame of a motion, standing somewhere on the floor. */

import { Vector3 } from "three";
import { AMBER } from "../colours";
import type { GhostOverlay, Place } from "../types";
import { Ghost, type Template } from "./figure";
import { Drawn, type OverlayLayer } from "./overlays";
import type { Probe } from "./screen";
import type { Track } from "./track";

const OPACITY = 0.45;

export class DrawnGhost extends Drawn implements GhostOverlay {
  private ghost: Ghost | null = null;
  private track: Track | null = null;
  private worn: Track | null = null;
  private frame: number;
  private colour: string;
  private removed = false;

  constructor(
    owner: OverlayLayer,
    loading: Promise<{ track: Track; template: Template; worn: { track: Track; template: Template } | null }>,
    frame: number,
    style: { colour?: string } = {},
  ) {
    super(owner);
    this.frame = frame;
    this.colour = style.colour ?? AMBER;
    loading.then(
      ({ track, template, worn }) => {
        if (this.removed) return;
        this.track = track;
        this.worn = worn && worn.track;
        this.ghost = new Ghost(worn?.template ?? template, this.colour, OPACITY);
        this.object.add(this.ghost.object);
        this.pose();
      },
      () => this.remove(), // the motion is gone: so is its ghost
    );
  }

  update(frame: number, floor?: { yaw: number; x: number; z: number }, style: { colour?: string } = {}): void {
    this.frame = frame;
    this.colour = style.colour ?? this.colour;
    if (floor) {
      this.object.rotation.y = floor.yaw;
      this.object.position.set(floor.x, 0, floor.z);
    }
    this.pose();
  }

  private pose(): void {
    if (!this.ghost || !this.track) return;
    (this.worn ?? this.track).pose(this.ghost.bones, this.frame);
    if (this.worn) {
      // What is asked for is where the recorded body is: the character stands there, whatever its size.
      const { x, z } = this.track.root(this.frame, new Vector3());
      this.ghost.bones[0]!.position.setX(x).setZ(z);
    }
    this.ghost.tint(this.colour, OPACITY);
    this.object.updateMatrixWorld(true);
    this.owner.redraw();
  }

  override remove(): void {
    this.removed = true;
    this.ghost?.dispose(); // its geometry is the template's and stays
    this.owner.drop(this);
  }

  where(): Place {
    if (!this.ghost) return this.object.position;
    const at = this.object.localToWorld(this.ghost.bones[0]!.position.clone());
    return { x: at.x, y: 0, z: at.z };
  }

  away(probe: Probe): number {
    if (!this.ghost) return Infinity;
    return probe.ray.intersectObject(this.ghost.pickable, false).length > 0 ? 8 : Infinity;
  }
}
