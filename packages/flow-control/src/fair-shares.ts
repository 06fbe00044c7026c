/** The bounds between which a level's seats may be set, and the number of seats that it could use. `target` is at least `min`. */
export type ShareItem = { min: number; max: number; target: number };

/** A level without demand has this target instead of 0. */
const MIN_TARGET = 0.001;

/** Sums that differ by less than this are the same, because of rounding. */
const EPSILON = 1e-7;

/**
 * Divides `sum` among items in proportion to their targets, within their bounds (apiserver, util/flowcontrol/conc_alloc.go). `fraction`:
 * the share of its target that each item gets, unless a bound applies. Returns undefined if the bounds do not permit the sum.
 */
export function fairShares(
  sum: number,
  items: readonly ShareItem[],
): { shares: number[]; fraction: number } | undefined {
  const all = items.map(({ min, max, target }) => ({ min, max, target: Math.max(target, MIN_TARGET) }));
  if (all.some(({ min, max, target }) => min > target || min > max)) return undefined;
  const sharesAt = (fraction: number) =>
    all.map(({ min, max, target }) => Math.max(min, Math.min(max, fraction * target)));
  const totalAt = (fraction: number) => sharesAt(fraction).reduce((total, share) => total + share, 0);
  // the total grows with the fraction, linearly between two fractions at which a bound begins or ceases to apply
  const bends = all.flatMap(({ min, max, target }) => [min / target, max / target]).sort((a, b) => a - b);
  let [low, high] = [0, bends.length - 1];
  if (high < 0 || totalAt(bends[low]!) - sum > EPSILON || sum - totalAt(bends[high]!) > EPSILON) return undefined;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (totalAt(bends[middle]!) <= sum) low = middle;
    else high = middle;
  }
  const [begin, end] = [bends[low]!, bends[high]!];
  const [least, most] = [totalAt(begin), totalAt(end)];
  const fraction = most === least ? begin : begin + ((end - begin) * (sum - least)) / (most - least);
  return { shares: sharesAt(fraction), fraction };
}
