/** Index lists of Indexed Jobs as text, such as `1,3-5,7` (validateIndexesFormat). */

type Interval = readonly [first: number, last: number];

/**
 * Returns the number of indexes in a list, or an error message if the list is invalid. Indexes must be increasing and less than
 * `completions`.
 */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let last: number | undefined;
  let total = 0;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    if (last !== undefined && last >= interval[0]) return notIncreasing(last, interval[0]);
    total += interval[1] - interval[0] + 1;
    last = interval[1];
  }
  return total;
}

const notIncreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;

function parseInterval(text: string, completions: number): Interval | string {
  const parts = text.split('-');
  if (parts.length > 2)
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const indexes: number[] = [];
  for (const part of parts) {
    if (!/^[+-]?\d{1,15}$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
    if (Number(part) >= completions) return `too large index: ${JSON.stringify(part)}`;
    indexes.push(Number(part));
  }
  const [first = 0, last = first] = indexes;
  return indexes.length === 2 && first >= last ? notIncreasing(first, last) : [first, last];
}

/** Returns an error message if two index lists overlap. Ignores the invalid intervals in them. */
export function overlapProblem(completed: string, failed: string, completions: number): string | undefined {
  if (completed === '' || failed === '') return undefined;
  const intervals = (text: string) =>
    text.split(',').flatMap((part): Interval[] => {
      const interval = parseInterval(part, completions);
      return typeof interval === 'string' ? [] : [interval];
    });
  const [ours, theirs] = [intervals(completed), intervals(failed)];
  for (let i = 0, j = 0; i < ours.length && j < theirs.length; ) {
    const [first, last] = ours[i]!;
    const [otherFirst, otherLast] = theirs[j]!;
    if (first <= otherLast && otherFirst <= last)
      return `failedIndexes and completedIndexes overlap at index: ${Math.max(first, otherFirst)}`;
    if (first <= otherFirst) i++;
    else j++;
  }
  return undefined;
}
