/** Diffs two values like upstream's error messages (apimachinery, util/diff): as JSON, with context lines. */

const CONTEXT = 3;
/** Maximum number of lines in a hunk. Longer ones are truncated because the values come from clients and may be large. */
const MAX_LINES = 100;

/** Returns a unified diff with a single hunk that spans all differing lines, or '' if the values are equal. */
export function jsonDiff(old: unknown, value: unknown): string {
  const before = linesOf(old);
  const after = linesOf(value);
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let same = 0;
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same++;
  if (start === before.length && start === after.length) return '';
  const first = Math.max(start - CONTEXT, 0);
  const last = Math.min(same, CONTEXT);
  const oldEnd = before.length - same;
  const newEnd = after.length - same;
  const hunk = [
    ...before.slice(first, start).map((line) => ` ${line}`),
    ...before.slice(start, oldEnd).map((line) => `-${line}`),
    ...after.slice(start, newEnd).map((line) => `+${line}`),
    ...before.slice(oldEnd, oldEnd + last).map((line) => ` ${line}`),
  ];
  const range = (end: number) => rangeText(first, end - first + last);
  const shown = hunk.length <= MAX_LINES ? hunk : [...hunk.slice(0, MAX_LINES), '…'];
  return `@@ -${range(oldEnd)} +${range(newEnd)} @@\n${shown.map((line) => `${line}\n`).join('')}`;
}

const rangeText = (start: number, count: number): string => (count === 1 ? `${start + 1}` : `${start + 1},${count}`);

const linesOf = (value: unknown): string[] => JSON.stringify(value ?? null, undefined, 1).split('\n');
