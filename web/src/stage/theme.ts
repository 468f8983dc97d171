/** Colours of the stage, as pictures and videos have them; the light theme is a twin, not an inversion. */

export interface StageTheme {
  background: string;
  floor: string;
  grid: string;
  gridStrong: string;
  number: string;
  /** Share of the floor's light that the key light's shadow takes away. */
  shadow: number;
  sky: string;
  bounce: string;
  hemisphere: number;
  key: number;
  ghost: string;
}

export const STAGE_THEMES: Record<"dark" | "light", StageTheme> = {
  dark: {
    background: "#14171c",
    floor: "#272c34",
    grid: "#363d48",
    gridStrong: "#525c6b",
    number: "#7a8494",
    shadow: 0.62,
    sky: "#aebfd8",
    bounce: "#6f6a66",
    hemisphere: 1.35,
    key: 2.6,
    ghost: "#9fb0c4",
  },
  light: {
    background: "#eceff2",
    floor: "#f9fafb",
    grid: "#dde2e7",
    gridStrong: "#bcc4ce",
    number: "#7c8695",
    shadow: 0.34,
    sky: "#dfe8f4",
    bounce: "#a9a49c",
    hemisphere: 2.2,
    key: 2.6,
    ghost: "#7f8fa3",
  },
};
