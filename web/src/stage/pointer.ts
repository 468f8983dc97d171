/** What presses and drags on the stage mean: moving a thing, using the floor's tool, or turning the camera. */

import { Plane, Raycaster, Vector2, Vector3 } from "three";
import type { FloorTool, Place, PointerAt } from "../types";
import type { OrbitCamera } from "./camera";
import type { Drawn, OverlayLayer } from "./overlays";
import type { Probe } from "./screen";

const REACH_PX = 12;
const FINGER_REACH_PX = 24;
const CLICK_PX = 4;
const NUDGE_M = 0.05;

type Gesture =
  | { kind: "orbit" }
  | { kind: "pan" }
  | { kind: "tool"; tool: FloorTool }
  | { kind: "drag"; drawn: Drawn; offset: Vector3; moved: boolean; from: Vector2 };

export class Pointer {
  tool: FloorTool | null = null;
  /** The thing that was pressed last: keys go to it. */
  selected: Drawn | null = null;
  onHover: (event: PointerEvent | null) => void = () => undefined;
  /** Hears that something is drawn or moved on the stage. */
  onEdit: () => void = () => undefined;
  private gesture: Gesture | null = null;
  private over: Drawn | null = null;
  private readonly fingers = new Map<number, Vector2>();
  private readonly ray = new Raycaster();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: OrbitCamera,
    private readonly layer: OverlayLayer,
    private readonly redraw: () => void,
  ) {
    canvas.addEventListener("blur", () => delete canvas.dataset["pressed"]);
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.abandon(event));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", (event) => this.doubleClick(event as PointerEvent));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Whether the user is drawing or moving something: the camera stands still meanwhile. */
  get busy(): boolean {
    return this.gesture !== null && this.gesture.kind !== "orbit";
  }

  probe(event: { clientX: number; clientY: number }): Probe {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    this.ray.setFromCamera(new Vector2((2 * x) / box.width - 1, 1 - (2 * y) / box.height), this.camera.lens);
    return { x, y, width: box.width, height: box.height, camera: this.camera.lens, ray: this.ray };
  }

  /** Where the pointer meets a level of the scene; null where that is in the sky or too far to be meant. */
  level(event: { clientX: number; clientY: number }, height = 0): Vector3 | null {
    const { ray } = this.probe(event);
    const hit = ray.ray.intersectPlane(new Plane(new Vector3(0, 1, 0), -height), new Vector3());
    return hit && hit.distanceTo(this.camera.target) < Math.max(60, 4 * this.camera.distance) ? hit : null;
  }

  private at(event: PointerEvent): PointerAt | null {
    const hit = this.level(event);
    return hit && { x: hit.x, z: hit.z, event };
  }

  private down(event: PointerEvent): void {
    // Whoever presses on it sees where they are: the ring is for those who come by keys.
    this.canvas.dataset["pressed"] = "";
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, new Vector2(event.clientX, event.clientY));
    this.onHover(null);
    if (this.fingers.size > 1) {
      this.cancel(); // the first finger meant to turn, too
      this.gesture = this.tool ? { kind: "orbit" } : { kind: "pan" };
      return;
    }
    this.gesture = this.begin(event);
    this.cursor();
  }

  private begin(event: PointerEvent): Gesture {
    if (event.button === 1) return { kind: "pan" };
    if (event.button === 2) return event.shiftKey ? { kind: "pan" } : { kind: "orbit" };
    const reach = event.pointerType === "touch" ? FINGER_REACH_PX : REACH_PX;
    const drawn = this.layer.pick(this.probe(event), reach);
    this.selected = drawn;
    if (drawn) {
      const where = drawn.where();
      const kind = drawn.hooks?.kind;
      const meets = kind === "upright" ? this.upright(event, where) : kind === "view" ? this.facing(event, where) : this.level(event, where.y);
      const hit = meets ?? new Vector3(where.x, where.y, where.z);
      const offset = new Vector3(where.x, where.y, where.z).sub(hit);
      return { kind: "drag", drawn, offset, moved: false, from: new Vector2(event.clientX, event.clientY) };
    }
    const at = this.at(event);
    if (this.tool && at && this.tool.down(at)) {
      this.onEdit();
      return { kind: "tool", tool: this.tool };
    }
    return event.shiftKey ? { kind: "pan" } : { kind: "orbit" };
  }

  private move(event: PointerEvent): void {
    const held = this.fingers.get(event.pointerId);
    if (!held || !this.gesture) {
      if (event.buttons === 0) this.hover(event);
      return;
    }
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (this.fingers.size > 1) this.pinch(event, held, dx, dy);
    else if (this.gesture.kind === "orbit") this.camera.turn(dx, dy);
    else if (this.gesture.kind === "pan") this.camera.pan(dx, dy, this.canvas.clientHeight);
    else if (this.gesture.kind === "tool") this.draw(event, this.gesture.tool);
    else this.drag(event, this.gesture);
    held.set(event.clientX, event.clientY);
    this.redraw();
  }

  /** Every place that the pointer was at, not only one per drawn frame. */
  private draw(event: PointerEvent, tool: FloorTool): void {
    const steps = event.getCoalescedEvents();
    for (const step of steps.length > 0 ? steps : [event]) {
      const at = this.at(step);
      if (at) tool.move?.(at);
    }
  }

  private pinch(event: PointerEvent, held: Vector2, dx: number, dy: number): void {
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)![1];
    const before = held.distanceTo(other);
    const after = other.distanceTo(new Vector2(event.clientX, event.clientY));
    if (before > 0 && after > 0) this.camera.zoom(before / after);
    if (this.gesture!.kind === "pan") this.camera.pan(dx / 2, dy / 2, this.canvas.clientHeight);
    else this.camera.turn(dx / 2, dy / 2);
  }

  private drag(event: PointerEvent, gesture: Extract<Gesture, { kind: "drag" }>): void {
    const { drawn } = gesture;
    const hooks = drawn.hooks;
    if (!hooks) return;
    if (!gesture.moved) {
      if (gesture.from.distanceTo(new Vector2(event.clientX, event.clientY)) < CLICK_PX) return;
      gesture.moved = true;
      this.onEdit();
      hooks.start?.();
    }
    const where = drawn.where();
    const upright = hooks.kind === "upright" || (hooks.kind === "space" && event.shiftKey);
    const to = this.aim(event, where, gesture.offset, { upright, turn: hooks.kind === "turn", view: hooks.kind === "view" });
    if (to) hooks.move(to, Math.atan2(to.x - where.x, to.z - where.z));
  }

  private aim(event: PointerEvent, where: Place, offset: Vector3, { upright = false, turn = false, view = false }): Place | null {
    if (view) {
      const hit = this.facing(event, where);
      return hit && hit.add(offset);
    }
    if (!upright) {
      const hit = this.level(event, where.y);
      return hit && (turn ? hit : hit.add(offset));
    }
    const hit = this.upright(event, where);
    return hit && { x: where.x, y: Math.max(0, hit.y + offset.y), z: where.z };
  }

  /** Where a pointer meets the upright plane through a place that faces the camera. */
  private upright(event: PointerEvent, where: Place): Vector3 | null {
    const facing = this.camera.lens.getWorldDirection(new Vector3()).setY(0).normalize();
    const plane = new Plane().setFromNormalAndCoplanarPoint(facing, new Vector3(where.x, where.y, where.z));
    return this.probe(event).ray.ray.intersectPlane(plane, new Vector3());
  }

  /** Where a pointer meets the plane through a place that faces the camera. */
  facing(event: { clientX: number; clientY: number }, where: Place): Vector3 | null {
    const away = this.camera.lens.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(away, new Vector3(where.x, where.y, where.z));
    return this.probe(event).ray.ray.intersectPlane(plane, new Vector3());
  }

  private up(event: PointerEvent): void {
    const gesture = this.gesture;
    this.fingers.delete(event.pointerId);
    if (!gesture) return;
    this.gesture = null;
    if (gesture.kind === "tool") {
      const at = this.at(event);
      if (at) gesture.tool.up?.(at);
      else gesture.tool.cancel?.();
    } else if (gesture.kind === "drag") {
      if (gesture.moved) gesture.drawn.hooks?.end?.();
      else gesture.drawn.hooks?.click?.(event);
    }
    this.cursor();
    this.redraw();
  }

  private abandon(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.cancel();
  }

  /** Give up what is being drawn; a thing that was moved stays where it is. */
  private cancel(): void {
    const gesture = this.gesture;
    this.gesture = null;
    if (gesture?.kind === "tool") gesture.tool.cancel?.();
    if (gesture?.kind === "drag" && gesture.moved) gesture.drawn.hooks?.end?.();
    this.cursor();
  }

  private leave(): void {
    if (this.gesture) return;
    this.over?.emphasise(false);
    this.over = null;
    this.tool?.hover?.(null);
    this.onHover(null);
  }

  private hover(event: PointerEvent): void {
    const drawn = this.layer.pick(this.probe(event), REACH_PX);
    if (drawn !== this.over) {
      this.over?.emphasise(false);
      drawn?.emphasise(true);
      this.over = drawn;
    }
    this.cursor(drawn);
    this.tool?.hover?.(drawn ? null : this.at(event));
    this.onHover(event);
  }

  private cursor(over: Drawn | null = null): void {
    const dragging = this.gesture?.kind === "drag";
    const wanted = dragging ? "grabbing" : over ? "grab" : (this.tool?.cursor ?? "default");
    if (this.canvas.style.cursor !== wanted) this.canvas.style.cursor = wanted;
    this.canvas.title = over?.hooks?.label ?? "";
  }

  private doubleClick(event: PointerEvent): void {
    const drawn = this.layer.pick(this.probe(event), REACH_PX);
    if (drawn?.hooks?.doubleClick) return drawn.hooks.doubleClick(event);
    const at = this.at(event);
    if (at) this.tool?.doubleClick?.(at);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.camera.zoom(Math.exp(Math.min(Math.max(event.deltaY * lines, -200), 200) * (event.ctrlKey ? 0.01 : 0.0012)));
    this.redraw();
  }

  /** Keys for the thing that was pressed last; all others go on to the page. */
  private key(event: KeyboardEvent): void {
    if (event.key === "Escape" && (this.gesture || this.selected)) {
      this.cancel();
      this.selected = null;
      event.stopPropagation();
      return;
    }
    const drawn = this.selected;
    if (!drawn?.hooks || !this.layer.all.has(drawn)) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      if (!drawn.hooks.remove) return;
      this.selected = null;
      drawn.hooks.remove();
    } else {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step) return;
      const metres = NUDGE_M * (event.shiftKey ? 10 : 1);
      // as the picture shows it: right is the camera's right
      const [sin, cos] = [Math.sin(this.camera.azimuth), Math.cos(this.camera.azimuth)];
      const where = drawn.where();
      const [right, near] = [step[0]! * metres, step[1]! * metres];
      const to =
        drawn.hooks.kind === "upright"
          ? { x: where.x, y: where.y - near, z: where.z }
          : { x: where.x + right * cos + near * sin, y: where.y, z: where.z - right * sin + near * cos };
      drawn.hooks.start?.();
      drawn.hooks.move(to, Math.atan2(to.x - where.x, to.z - where.z));
      drawn.hooks.end?.();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
