/** The mannequin: loaded once for each skeleton, copied for each one who moves, moved by its bones alone. */

import { Color, Group, Mesh, MeshStandardMaterial, SkinnedMesh, type Bone, type Material, type Object3D } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { clone } from "three/examples/jsm/utils/SkeletonUtils.js";
import type { MotionSource } from "../types";
import { SkinHeat } from "./heat";

/** A skeleton's figure, and copies of it. */
export interface Template {
  scene: Object3D;
  /** Rest offsets from the parent, (J, 3). */
  offsets: Float32Array;
  /** Whether it is somebody's own character, with its own materials. */
  own: boolean;
}

export class FigureLibrary {
  private readonly loader = new GLTFLoader();
  private readonly held = new Map<string, Promise<Template>>();

  constructor(private readonly source: MotionSource) {}

  load(skeleton: string, fetch = () => this.source.figure(skeleton)): Promise<Template> {
    let coming = this.held.get(skeleton);
    if (!coming) {
      coming = fetch().then((bytes) => this.parse(bytes));
      coming.catch(() => this.held.delete(skeleton));
      this.held.set(skeleton, coming);
    }
    return coming;
  }

  private async parse(bytes: ArrayBuffer): Promise<Template> {
    const { scene } = await this.loader.parseAsync(bytes.slice(0), "");
    const bones = bonesOf(scene);
    const offsets = new Float32Array(3 * bones.length);
    bones.forEach((bone, joint) => bone.position.toArray(offsets, 3 * joint));
    return { scene, offsets, own: scene.userData["character"] === true };
  }
}

export class Figure {
  readonly object = new Group();
  readonly bones: readonly Bone[];
  private readonly meshes: Mesh[] = [];
  private readonly clay: MeshStandardMaterial | null;
  private heats: SkinHeat[] | null = null;

  constructor(template: Template) {
    const copy = clone(template.scene);
    this.bones = bonesOf(copy);
    this.clay = template.own ? null : new MeshStandardMaterial({ roughness: 0.72, metalness: 0, vertexColors: true });
    copy.traverse((part) => {
      if (!(part instanceof Mesh)) return;
      if (this.clay) part.material = this.clay;
      part.castShadow = true;
      part.receiveShadow = true;
      part.frustumCulled = false; // its bounds are those of the rest pose
      this.meshes.push(part);
    });
    this.object.add(copy);
  }

  /** See it through this colour; white leaves it as it is, and so does a character. */
  tint(colour: string): void {
    this.clay?.color.set(colour);
  }

  /** Colour it by values of its bones, from 0 to 1, red beyond; a character stays as it is. */
  heat(values: ArrayLike<number> | null): void {
    if (!values && !this.heats) return;
    if (!this.clay) return;
    this.heats ??= this.meshes.filter((mesh): mesh is SkinnedMesh => mesh instanceof SkinnedMesh).map((mesh) => new SkinHeat(mesh));
    for (const heat of this.heats) heat.set(values);
  }

  /** Whether its surface is drawn; its bones are there either way. */
  set drawn(drawn: boolean) {
    for (const mesh of this.meshes) mesh.visible = drawn;
  }

  dispose(): void {
    this.object.removeFromParent();
    this.clay?.dispose();
    for (const heat of this.heats ?? []) heat.dispose();
    for (const mesh of this.meshes) if (mesh instanceof SkinnedMesh) mesh.skeleton.dispose();
  }
}

/** A figure that stands still and lets the light through: drawn into the depth first, so that only its outside shows. */
export class Ghost {
  readonly object = new Group();
  readonly bones: readonly Bone[];
  private readonly meshes: SkinnedMesh[] = [];
  private readonly veil: MeshStandardMaterial;

  constructor(template: Template, colour: string, opacity: number) {
    const copy = clone(template.scene);
    const skins = skinsOf(copy);
    this.bones = skins[0]!.skeleton.bones;
    this.veil = new MeshStandardMaterial({ color: colour, roughness: 0.9, transparent: true, opacity, depthWrite: false });
    for (const mesh of skins) {
      mesh.material = this.veil;
      mesh.renderOrder = 3;
      const mask = new SkinnedMesh(mesh.geometry, new MeshStandardMaterial({ colorWrite: false }));
      mask.bind(mesh.skeleton, mesh.bindMatrix);
      mask.renderOrder = 2;
      mask.material.transparent = true; // sorted among the transparent things, before its veil
      mask.material.polygonOffset = true;
      mask.material.polygonOffsetFactor = 1;
      mask.material.polygonOffsetUnits = 1;
      mesh.parent!.add(mask);
      this.meshes.push(mesh, mask);
    }
    copy.traverse((part) => {
      if (!(part instanceof Mesh)) return;
      part.frustumCulled = false;
      if (part instanceof SkinnedMesh) return;
      part.material = this.veil; // parts of a character that hang from a bone
      part.renderOrder = 3;
    });
    this.object.add(copy);
  }

  get pickable(): Mesh {
    return this.meshes[0]!;
  }

  tint(colour: string, opacity: number): void {
    this.veil.color = new Color(colour);
    this.veil.opacity = opacity;
  }

  dispose(): void {
    this.object.removeFromParent();
    for (const mesh of this.meshes) {
      (mesh.material as Material).dispose();
      mesh.skeleton.dispose();
    }
  }
}

/** The bones in the order of the joints: those of the skin. */
function bonesOf(scene: Object3D): Bone[] {
  return skinsOf(scene)[0]!.skeleton.bones;
}

function skinsOf(scene: Object3D): SkinnedMesh[] {
  const found: SkinnedMesh[] = [];
  scene.traverse((object) => {
    if (object instanceof SkinnedMesh) found.push(object);
  });
  if (!found.length) throw new Error("the figure has no skinned mesh");
  return found;
}
