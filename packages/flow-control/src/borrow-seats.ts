/**
 * Lends seats of priority levels that do not need them to others (apiserver, util/flowcontrol/apf_controller.go, updateBorrowingLocked).
 */
import { fairShares } from './fair-shares.ts';
import type { DemandSummary } from './seat-demand.ts';
import type { SeatLimits } from './seats.ts';

export type Borrower = { limits: SeatLimits; demand: DemandSummary; isExempt: boolean; seats: number };

/** `seats`: those that a level has from now on. `target`: those that it could use; undefined if the level is exempt. */
export type Adjusted = { seats: number; target: number | undefined };

/**
 * Returns the seats of each level until the next adjustment, in the order of `levels`. Each level gets the seats that its requests have
 * needed at a time since the last adjustment, up to its nominal seats, and all levels share the rest in proportion to their demand.
 * `fraction`: the share of its target that each level gets, unless a limit applies.
 */
export function borrowSeats(levels: readonly Borrower[]): { adjusted: Adjusted[]; fraction: number } {
  const total = levels.reduce((sum, { limits }) => sum + limits.nominal, 0);
  const needed = levels.map(neededSeats);
  const limited = levels.flatMap((level, index) => (level.isExempt ? [] : [{ level, least: needed[index]! }]));
  const left = levels.reduce((rest, level, index) => (level.isExempt ? rest - needed[index]! : rest), total);
  const leastSum = limited.reduce((sum, { level }) => sum + level.limits.min, 0);
  const neededSum = limited.reduce((sum, { least }) => sum + least, 0);
  const items = limited.map(({ level, least }) => ({
    min: least,
    max: level.limits.max,
    target: Math.max(least, level.demand.smoothed),
  }));
  const found = left > neededSum ? fairShares(total, items) : undefined;
  const share = Math.max(0, left - leastSum) / (neededSum - leastSum || 1);
  const seatsOf = (index: number): number => {
    const { level, least } = limited[index]!;
    const { min } = level.limits;
    if (left <= neededSum) return min + Math.round((least - min) * share);
    return found === undefined ? level.seats : Math.round(found.shares[index]!);
  };
  let index = 0;
  const adjusted = levels.map(({ isExempt }, position): Adjusted => {
    if (isExempt) return { seats: needed[position]!, target: undefined };
    const next = { seats: seatsOf(index), target: items[index]!.target };
    index += 1;
    return next;
  });
  return { adjusted, fraction: found?.fraction ?? 0 };
}

/** Returns the seats that a level keeps, however much others need. */
const neededSeats = ({ limits: { min, nominal }, demand: { highest }, isExempt }: Borrower): number =>
  Math.max(min, isExempt ? highest : Math.min(nominal, highest));
