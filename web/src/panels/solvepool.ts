/** Overlays that stay while what they stand for does: one that was pressed keeps hearing keys. */

import type {
  ArrowOverlay,
  At,
  LineOverlay,
  LineStyle,
  Overlay,
  Solid,
  SolidOverlay,
  SphereOverlay,
  Stage,
  TextOverlay,
} from "../types";

export class Pool {
  private readonly all = new Map<string, Overlay>();
  private touched = new Set<string>();

  constructor(private readonly stage: Stage) {}

  /** Draw anew: what `draw` does not ask for again is taken away. */
  redraw(draw: () => void): void {
    this.touched = new Set();
    draw();
    for (const [key, overlay] of this.all) {
      if (this.touched.has(key)) continue;
      overlay.remove();
      this.all.delete(key);
    }
  }

  /** What is drawn under a key: there already and updated, or made. */
  take<T extends Overlay>(key: string, make: () => T, update: (known: T) => void): T {
    this.touched.add(key);
    const known = this.all.get(key) as T | undefined;
    if (known) {
      update(known);
      return known;
    }
    const made = make();
    this.all.set(key, made);
    return made;
  }

  arrow(key: string, at: At, heading: number, style: { colour: string; length: number }): ArrowOverlay {
    return this.take<ArrowOverlay>(
      key,
      () => this.stage.addArrow(at, heading, style),
      (arrow) => arrow.update(at, heading, style),
    );
  }

  sphere(key: string, at: At, style: { colour: string; radius: number }): SphereOverlay {
    return this.take<SphereOverlay>(
      key,
      () => this.stage.addSphere(at, style),
      (sphere) => sphere.update(at, style),
    );
  }

  line(key: string, points: readonly At[], style: Partial<LineStyle>): LineOverlay {
    return this.take<LineOverlay>(
      key,
      () => this.stage.addLine(points, style),
      (line) => line.update(points, style),
    );
  }

  solid(key: string, solid: Solid, style: { colour: string; opacity: number }): SolidOverlay {
    return this.take<SolidOverlay>(
      key,
      () => this.stage.addSolid(solid, style),
      (known) => known.update(solid, style),
    );
  }

  text(key: string, at: At, text: string, colour: string): TextOverlay {
    return this.take<TextOverlay>(
      key,
      () => this.stage.addText(at, text, colour),
      (known) => known.update(at, text, colour),
    );
  }
}
