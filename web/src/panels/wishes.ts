/** Goals along a path as stretches of it: each with all that is wanted there. */

import type { FollowRequest, LabelGoal, PauseGoal, SpeedGoal } from "../messages";

type Goals = NonNullable<FollowRequest["goals"]>;
type AlongGoal = Partial<LabelGoal & SpeedGoal & PauseGoal>;

/** A stretch of the path, in metres, and what is wanted there. */
export interface Wish {
  start_m: number;
  end_m: number;
  label?: string;
  speed_m_s?: number;
  pause_s?: number;
}

const WANTED = ["label", "speed_m_s", "pause_s"] as const;

/** Goals by stretch, and on which of the stretches each is; those without a place are on the whole path. */
export function wishesOf(goals: Goals, whole: number): { wishes: Wish[]; owners: number[] } {
  const wishes: Wish[] = [];
  const owners = (goals as AlongGoal[]).map((goal) => {
    const start = goal.at_m ?? goal.start_m ?? 0;
    const end = goal.at_m ?? goal.end_m ?? whole;
    const wanted = WANTED.filter((name) => goal[name]);
    const free = (wish: Wish) => isAt(wish, [start, end]) && wanted.every((name) => !wish[name]);
    let owner = wishes.findIndex(free);
    if (owner < 0) owner = wishes.push({ start_m: start, end_m: end }) - 1;
    for (const name of wanted) Object.assign(wishes[owner]!, { [name]: goal[name] });
    return owner;
  });
  return { wishes, owners };
}

export function goalsOf(wishes: readonly Wish[]): Goals {
  return wishes.flatMap((wish) => {
    const { start_m, end_m } = wish;
    const where = end_m > start_m ? { start_m, end_m } : { at_m: start_m };
    return WANTED.filter((name) => wish[name]).map((name) => ({ ...where, [name]: wish[name] }) as Goals[number]);
  });
}

/** From where to where along the path. */
export const rangeOf = ({ start_m, end_m }: Wish): [number, number] => [start_m, end_m];

export const isAt = (wish: Wish, range: readonly [number, number]): boolean => String(rangeOf(wish)) === String(range);

/** A stretch in words: "run, 2.5 m/s, stand 2 s". */
export function said(wish: Wish): string {
  const words = [
    wish.label ?? null,
    wish.speed_m_s ? `${wish.speed_m_s} m/s` : null,
    wish.pause_s ? `stand ${wish.pause_s} s` : null,
  ];
  return words.filter((word) => word !== null).join(", ");
}
