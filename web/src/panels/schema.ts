/** Requests as their JSON Schemas describe them: what a field is called, what it may be, what it is where nobody says. */

import type { Plain } from "../messages";

/** The part of JSON Schema that our models use; `unit`, `hidden`, `advanced`, `inverted` and
    `panel` are our own. */
export interface Schema {
  type?: string;
  enum?: string[];
  anyOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  prefixItems?: Schema[];
  additionalProperties?: boolean | Schema;
  default?: Plain;
  description?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  /** "motion" names motions of the project, "file" a file of its folder. */
  format?: string;
  unit?: string;
  /** Left to panels of their own, to files and to Python. */
  hidden?: boolean;
  /** Folded away, below a heading. */
  advanced?: boolean;
  /** What the switch is called that turns the field off. */
  inverted?: string;
  panel?: string;
}

/** A field, with references and `null` resolved. */
export interface Field {
  name: string;
  schema: Schema;
  /** Whether nothing at all may be said. */
  optional: boolean;
  hint: string;
  usual: Plain | undefined;
}

export type Kind = "switch" | "choice" | "number" | "text" | "tuple" | "mapping" | "words" | "list" | "section" | "other";

/** What a reference stands for; notes beside it count too. */
export function resolved(root: Schema, schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const { $ref, ...notes } = schema;
  return { ...root.$defs?.[$ref.split("/").at(-1)!], ...notes };
}

export function fieldsOf(root: Schema, schema: Schema): Field[] {
  const { properties = {} } = resolved(root, schema);
  return Object.entries(properties).map(([name, part]) => {
    const choices = (part.anyOf ?? []).filter(({ type }) => type !== "null");
    // Where a list can also be the name of a file, forms ask for the file.
    const choice = choices.length === 1 ? choices[0]! : choices.find(({ type, format }) => type === "string" && format === "file");
    const inner = choice ? { ...part, ...resolved(root, choice) } : resolved(root, part);
    return {
      name,
      schema: { ...inner, description: part.description ?? inner.description ?? "" },
      optional: part.anyOf !== undefined && choices.length < part.anyOf.length,
      hint: (part.description ?? "").replace(/\s+/g, " "),
      usual: part.default,
    };
  });
}

export function kindOf(root: Schema, schema: Schema): Kind {
  if (schema.enum) return "choice";
  if (schema.type === "boolean") return "switch";
  if (schema.type === "number" || schema.type === "integer") return "number";
  if (schema.type === "string") return "text";
  if (schema.properties) return "section";
  if (schema.type === "object") return "mapping";
  if (schema.prefixItems) return "tuple";
  const item = schema.items && resolved(root, schema.items);
  if (schema.type === "array" && item) return item.properties ? "list" : item.type === "string" ? "words" : "other";
  return "other";
}

/** "smooth_m" as people say it: "Smooth". */
export function labelOf(name: string): string {
  const words = name.replace(/_(m|s|deg|hz|m_s|m2_s|frames)$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function boundsOf(schema: Schema): { min: number; max: number; step: number } {
  const step = schema.type === "integer" ? 1 : ({ "°": 5, s: 0.1, m: 0.05, Hz: 1, "m/s": 0.1 }[schema.unit ?? ""] ?? 0.01);
  return {
    min: schema.minimum ?? schema.exclusiveMinimum ?? -1e6,
    max: schema.maximum ?? schema.exclusiveMaximum ?? 1e9,
    step,
  };
}

/** A new entry of a list: what must be said, as little as can be. */
export function blank(root: Schema, schema: Schema): Plain {
  const whole = resolved(root, schema);
  if (whole.default !== undefined) return whole.default;
  if (whole.prefixItems) return whole.prefixItems.map((part) => blank(root, part));
  if (whole.enum) return whole.enum[0] ?? "";
  if (whole.type === "number" || whole.type === "integer") return Math.max(0, whole.minimum ?? 0);
  if (whole.type === "boolean") return false;
  if (whole.type === "array") return [];
  if (!whole.properties) return whole.type === "object" ? {} : "";
  const needed = Object.entries(whole.properties).filter(([name]) => whole.required?.includes(name));
  return Object.fromEntries(needed.map(([name, part]) => [name, blank(root, part)]));
}
