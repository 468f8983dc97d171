/** Figures that are moved frame by frame as these arrive, and a map of values on the floor about one of them. */

import { CanvasTexture, LinearFilter, Mesh, MeshBasicMaterial, PlaneGeometry } from "three";
import type { HeatOverlay, LiveOverlay, Place } from "../types";
import type { LiveBody } from "./casting";
import { Figure, Ghost } from "./figure";
import { Drawn, type OverlayLayer } from "./overlays";
import type { Wearing } from "./wearing";

export class DrawnLive extends Drawn implements LiveOverlay {
  private figure: Figure | Ghost | null = null;
  private wearing: Wearing | null = null;
  private removed = false;

  constructor(owner: OverlayLayer, loading: Promise<LiveBody>, colour?: string, opacity = 1) {
    super(owner);
    loading.then(
      ({ template: own, worn }) => {
        if (this.removed) return;
        this.wearing = worn && worn.wearing;
        const template = worn?.template ?? own;
        if (opacity < 1) this.figure = new Ghost(template, colour ?? "#ffffff", opacity);
        else {
          this.figure = new Figure(template);
          if (colour) this.figure.tint(colour);
        }
        this.figure.object.visible = false; // until its first frame is there
        this.object.add(this.figure.object);
      },
      () => this.remove(),
    );
  }

  update(recorded: ArrayLike<number>): void {
    const { figure } = this;
    if (!figure) return;
    const row = this.wearing?.rows(recorded) ?? recorded;
    figure.object.visible = true;
    figure.bones[0]!.position.set(row[0]!, row[1]!, row[2]!);
    figure.bones.forEach((bone, joint) => bone.quaternion.fromArray(row as Float32Array, 3 + 4 * joint));
    this.object.updateMatrixWorld(true);
    this.owner.redraw();
  }

  override remove(): void {
    this.removed = true;
    this.figure?.dispose();
    this.owner.drop(this);
  }

  where(): Place {
    return this.figure?.bones[0]!.position ?? this.object.position;
  }

  away(): number {
    return Infinity;
  }
}

/** From good to bad: teal, through nothing, to red. */
function shade(value: number): [number, number, number, number] {
  const bad = Math.min(value / 160, 1);
  return [40 + 190 * bad, 170 - 100 * bad, 160 - 90 * bad, 40 + 110 * Math.abs(bad - 0.4)];
}

export class DrawnHeat extends Drawn implements HeatOverlay {
  private readonly canvas = document.createElement("canvas");
  private readonly texture = new CanvasTexture(this.canvas);
  private readonly mesh: Mesh;

  constructor(owner: OverlayLayer) {
    super(owner);
    this.texture.magFilter = LinearFilter;
    const material = new MeshBasicMaterial({ map: this.texture, transparent: true, depthWrite: false, toneMapped: false });
    this.mesh = new Mesh(new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), material);
    this.mesh.position.y = 0.004;
    this.mesh.renderOrder = 1;
    this.object.add(this.mesh);
  }

  update(x: number, z: number, half: number, size: number, cells: readonly number[]): void {
    if (this.canvas.width !== size) {
      this.canvas.width = this.canvas.height = size;
      this.texture.dispose(); // what the graphics card holds of it keeps its size
    }
    const pen = this.canvas.getContext("2d")!;
    const image = pen.createImageData(size, size);
    cells.forEach((value, at) => image.data.set(shade(value), 4 * at));
    pen.putImageData(image, 0, 0);
    this.texture.needsUpdate = true;
    this.mesh.scale.set(2 * half, 1, 2 * half);
    this.mesh.position.set(x, 0.005, z);
    this.owner.redraw();
  }

  override remove(): void {
    this.texture.dispose();
    (this.mesh.material as MeshBasicMaterial).dispose();
    this.mesh.geometry.dispose();
    this.owner.drop(this);
  }

  where(): Place {
    return this.mesh.position;
  }

  away(): number {
    return Infinity;
  }
}
