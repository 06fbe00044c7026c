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
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const total = sum(levels.map(({ limits }) => limits.nominal));
  const limited = levels.filter(({ isExempt }) => !isExempt);
  const left = total - sum(levels.filter(({ isExempt }) => isExempt).map(neededSeats));
  const items = limited.map((level) => {
    const min = neededSeats(level);
    return { min, max: level.limits.max, target: Math.max(min, level.demand.smoothed) };
  });
  const needed = sum(items.map(({ min }) => min));
  const least = sum(limited.map(({ limits }) => limits.min));
  const found = left > needed ? fairShares(total, items) : undefined;
  const share = Math.max(0, left - least) / (needed - least || 1);
  const seatsOf = ({ limits: { min }, seats }: Borrower, index: number): number => {
    if (left <= needed) return min + Math.round((items[index]!.min - min) * share);
    return found === undefined ? seats : Math.round(found.shares[index]!);
  };
  const adjusted = new Map(
    limited.map((level, index) => [level, { seats: seatsOf(level, index), target: items[index]!.target }]),
  );
  return {
    adjusted: levels.map((level) => adjusted.get(level) ?? { seats: neededSeats(level), target: undefined }),
    fraction: found?.fraction ?? 0,
  };
}

/** Returns the seats that a level keeps, however much others need. */
const neededSeats = ({ limits: { min, nominal }, demand: { highest }, isExempt }: Borrower): number =>
  Math.max(min, isExempt ? highest : Math.min(nominal, highest));
