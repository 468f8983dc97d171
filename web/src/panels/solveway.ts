/** The way of a motion over the floor, as a small picture. */

const SVG = "http://www.w3.org/2000/svg";
/** Metres that are shown at least, and around it. */
const [LEAST, MARGIN] = [2, 0.3];

/** As the first view has it: +z towards the viewer, +x to the right; a dot where it ends. */
export function wayPicture(way: readonly [number, number][]): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "way");
  svg.setAttribute("aria-hidden", "true");
  if (way.length === 0) return svg;
  const [xs, zs] = [way.map(([x]) => x), way.map(([, z]) => z)];
  const middle = [xs, zs].map((values) => (Math.min(...values) + Math.max(...values)) / 2) as [number, number];
  const span = (values: number[]) => Math.max(...values) - Math.min(...values) + 2 * MARGIN;
  const height = Math.max(LEAST, span(zs), (span(xs) * 3) / 4);
  const width = (height * 4) / 3;
  svg.setAttribute("viewBox", [middle[0] - width / 2, middle[1] - height / 2, width, height].join(" "));
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", `M${way.map(([x, z]) => `${x.toFixed(2)} ${z.toFixed(2)}`).join("L")}`);
  const end = document.createElementNS(SVG, "circle");
  const [x, z] = way.at(-1)!;
  for (const [name, value] of Object.entries({ cx: x, cy: z, r: height / 22 })) end.setAttribute(name, String(value));
  svg.append(line, end);
  return svg;
}
