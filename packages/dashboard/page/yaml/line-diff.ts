/** Line-by-line differences between two texts. Pure functions. */

export type DiffLine = { kind: 'same' | 'removed' | 'added'; text: string };

/** Maximum number of changes. Texts with more are shown as one removed and one added block. */
const MAX_STEPS = 2000;

/** Returns the lines of both texts with a minimal number of changes (Myers, "An O(ND) difference algorithm and its variations", 1986). */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

const block = (kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind, text }));

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const trace = furthest(a, b);
  return trace === undefined ? [...block('removed', a), ...block('added', b)] : walk(a, b, trace);
}

/**
 * Returns, for each number of changes, the furthest line of `a` reached on each diagonal before the last change. A diagonal is the line
 * number in `a` minus the line number in `b`. Returns undefined if there are more than MAX_STEPS changes.
 */
function furthest(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const reached = new Map([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let changes = 0; changes <= Math.min(a.length + b.length, MAX_STEPS); changes++) {
    trace.push(new Map(reached));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = stepsDown(reached, diagonal, changes) ? reached.get(diagonal + 1)! : reached.get(diagonal - 1)! + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reached.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return trace;
    }
  }
  return undefined;
}

/** Whether the last change on the path to this diagonal adds a line of `b` rather than removing a line of `a`. */
const stepsDown = (reached: Map<number, number>, diagonal: number, changes: number): boolean =>
  diagonal === -changes || (diagonal !== changes && reached.get(diagonal - 1)! < reached.get(diagonal + 1)!);

/** Returns the differences by following the steps in `trace` backwards, from the ends of both texts to their beginnings. */
function walk(a: readonly string[], b: readonly string[], trace: readonly Map<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let changes = trace.length - 1; changes >= 0; changes--) {
    const reached = trace[changes]!;
    const isDown = stepsDown(reached, x - y, changes);
    const diagonal = isDown ? x - y + 1 : x - y - 1;
    const fromX = changes === 0 ? 0 : reached.get(diagonal)!;
    const fromY = changes === 0 ? 0 : fromX - diagonal;
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      lines.push({ kind: 'same', text: a[--x]! });
      y--;
    }
    if (changes === 0) break;
    if (isDown) lines.push({ kind: 'added', text: b[--y]! });
    else lines.push({ kind: 'removed', text: a[--x]! });
  }
  return lines.reverse();
}

/** Replaces unchanged lines more than `context` lines away from any change with their count (`skipped`). */
export function hunks(lines: readonly DiffLine[], context = 3): (DiffLine | { kind: 'skipped'; count: number })[] {
  const near = new Set<number>();
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') for (let at = index - context; at <= index + context; at++) near.add(at);
  });
  const shown: (DiffLine | { kind: 'skipped'; count: number })[] = [];
  lines.forEach((line, index) => {
    const last = shown.at(-1);
    if (near.has(index)) shown.push(line);
    else if (last?.kind === 'skipped') last.count++;
    else shown.push({ kind: 'skipped', count: 1 });
  });
  return shown;
}
