/** The floor: a grid each metre, stronger each five, with numbers; takes the shadow and fades into the background. */

import {
  CanvasTexture,
  Color,
  Group,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  ShaderMaterial,
  SRGBColorSpace,
  UniformsLib,
  UniformsUtils,
  BufferGeometry,
  Float32BufferAttribute,
  Vector3,
} from "three";
import type { StageTheme } from "./theme";

const EXTENT_M = 400;
/** Numbers along both axes, each metre to here and each five beyond. */
const EACH_METRE_TO = 10;
const EACH_FIVE_TO = 60;

export class FloorMesh {
  readonly object = new Group();
  private readonly material: ShaderMaterial;
  private readonly numbers: Mesh<BufferGeometry, MeshBasicMaterial>;
  private theme: StageTheme;

  constructor(theme: StageTheme) {
    this.theme = theme;
    this.material = new ShaderMaterial({
      lights: true,
      uniforms: UniformsUtils.merge([
        UniformsLib.lights,
        {
          ground: { value: new Color() },
          grid: { value: new Color() },
          strong: { value: new Color() },
          background: { value: new Color() },
          shadow: { value: 0 },
          centre: { value: new Vector3() },
          reach: { value: 10 },
        },
      ]),
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
    });
    const plane = new Mesh(new PlaneGeometry(EXTENT_M, EXTENT_M).rotateX(-Math.PI / 2), this.material);
    plane.receiveShadow = true;
    plane.renderOrder = -2;
    this.numbers = new Mesh(
      new BufferGeometry(),
      new MeshBasicMaterial({ transparent: true, depthWrite: false, toneMapped: false, polygonOffset: true, polygonOffsetFactor: -1 }),
    );
    this.numbers.renderOrder = -1;
    this.object.add(plane, this.numbers);
    this.setTheme(theme);
  }

  setTheme(theme: StageTheme): void {
    this.theme = theme;
    const uniforms = this.material.uniforms;
    uniforms.ground!.value.set(theme.floor);
    uniforms.grid!.value.set(theme.grid);
    uniforms.strong!.value.set(theme.gridStrong);
    uniforms.background!.value.set(theme.background);
    uniforms.shadow!.value = theme.shadow;
    this.write();
  }

  /** The pool of light that the floor is seen in, and where it ends. */
  light(centre: Vector3, reach: number): void {
    this.material.uniforms.centre!.value.copy(centre);
    this.material.uniforms.reach!.value = reach;
    this.numbers.material.opacity = Math.min(1, Math.max(0.25, 14 / reach));
  }

  private write(): void {
    const values: number[] = [];
    for (let k = -EACH_FIVE_TO; k <= EACH_FIVE_TO; k++) {
      if (k !== 0 && (Math.abs(k) <= EACH_METRE_TO || k % 5 === 0)) values.push(k);
    }
    const columns = 8;
    const cell = 64;
    const rows = Math.ceil(values.length / columns);
    const canvas = document.createElement("canvas");
    canvas.width = columns * cell;
    canvas.height = rows * cell;
    const pen = canvas.getContext("2d")!;
    pen.fillStyle = this.theme.number;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `600 ${cell * 0.55}px system-ui, sans-serif`;
    const places: number[] = [];
    const uvs: number[] = [];
    const faces: number[] = [];
    values.forEach((value, index) => {
      const column = index % columns;
      const row = Math.floor(index / columns);
      pen.fillText(String(value).replace("-", "−"), (column + 0.5) * cell, (row + 0.5) * cell);
      const size = value % 5 === 0 ? 0.5 : 0.32;
      for (const [x, z] of [[value, 0], [0, value]] as const) {
        const first = places.length / 3;
        // beside its line, outside of the axis, read from the front
        const left = x + (x === 0 ? -size : -size / 2) - (x === 0 ? 0.02 : 0);
        const top = z + (z === 0 ? 0.02 : -size / 2);
        places.push(left, 0.002, top, left + size, 0.002, top, left + size, 0.002, top + size, left, 0.002, top + size);
        const [u, v] = [column / columns, 1 - row / rows];
        uvs.push(u, v, u + 1 / columns, v, u + 1 / columns, v - 1 / rows, u, v - 1 / rows);
        faces.push(first, first + 2, first + 1, first, first + 3, first + 2);
      }
    });
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
    geometry.setAttribute("uv", new Float32BufferAttribute(uvs, 2));
    geometry.setIndex(faces);
    const texture = new CanvasTexture(canvas);
    texture.colorSpace = SRGBColorSpace;
    texture.anisotropy = 8;
    this.numbers.geometry.dispose();
    this.numbers.material.map?.dispose();
    this.numbers.geometry = geometry;
    this.numbers.material.map = texture;
    this.numbers.material.needsUpdate = true;
  }
}

const VERTEX = /* glsl */ `
#include <common>
#include <shadowmap_pars_vertex>
varying vec2 place;
void main() {
  #include <beginnormal_vertex>
  #include <defaultnormal_vertex>
  #include <begin_vertex>
  #include <project_vertex>
  #include <worldpos_vertex>
  #include <shadowmap_vertex>
  place = worldPosition.xz;
}`;

// Lines are half a pixel to either side of whole metres and fade where they would be finer than the pixels.
const FRAGMENT = /* glsl */ `
uniform vec3 ground;
uniform vec3 grid;
uniform vec3 strong;
uniform vec3 background;
uniform float shadow;
uniform vec3 centre;
uniform float reach;
varying vec2 place;
#include <common>
#include <bsdfs>
#include <lights_pars_begin>
#include <shadowmap_pars_fragment>
#include <shadowmask_pars_fragment>

float lines(vec2 at, float width) {
  vec2 pixel = fwidth(at);
  vec2 off = abs(fract(at - 0.5) - 0.5) / pixel;
  vec2 on = clamp(width + 0.5 - off, 0.0, 1.0) * clamp(1.4 - 3.0 * pixel, 0.0, 1.0);
  return max(on.x, on.y);
}

void main() {
  float away = length(place - centre.xz) / reach;
  vec3 colour = ground;
  colour = mix(colour, grid, lines(place, 0.5));
  colour = mix(colour, strong, lines(place / 5.0, 0.7));
  colour *= 1.0 - shadow * (1.0 - getShadowMask());
  colour = mix(background, colour, exp(-away * away));
  gl_FragColor = vec4(colour, 1.0);
  #include <colorspace_fragment>
}`;
