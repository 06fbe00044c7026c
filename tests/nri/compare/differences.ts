import { flatten, normalized } from './flatten.ts';
import type { Step } from './probe.ts';

/**
 * What was recorded on one side in a scenario. `names` maps this side's paths to placeholders used for both sides, which makes the sides
 * comparable.
 */
export type Observed = { steps: Step[]; names: ReadonlyMap<string, string> };

/** A line that only one side has (`-`: containerd, `+`: Podwright), and the steps it occurs in. */
export type Difference = { side: '-' | '+'; line: string; steps: string[] };

/** Returns both sides' steps, if they or their order differ: containerd's with `-`, Podwright's with `+`. */
export function stepDifferences(theirs: Observed, ours: Observed): string[] {
  const [before, after] = [theirs, ours].map(({ steps }) => steps.map(({ name }) => name)) as [string[], string[]];
  if (before.join('\n') === after.join('\n')) return [];
  return [...before.map((name) => `- ${name}`), ...after.map((name) => `+ ${name}`)];
}

/** Returns the differences between messages, for the steps that both sides have. */
export function fieldDifferences(scenario: string, theirs: Observed, ours: Observed): Difference[] {
  const differences: Difference[] = [];
  const [left, right] = [byName(theirs), byName(ours)];
  for (const [name, lines] of left) {
    const others = right.get(name);
    if (others === undefined) continue;
    const add = (side: '-' | '+', from: readonly string[], without: readonly string[]) => {
      const known = new Set(without);
      for (const line of new Set(from))
        if (!known.has(line)) differences.push({ side, line, steps: [`${scenario}: ${name}`] });
    };
    add('-', lines, others);
    add('+', others, lines);
  }
  return differences;
}

/** Merges identical differences across scenarios and sorts them by field. */
export function mergeDifferences(all: readonly Difference[]): Difference[] {
  const merged = new Map<string, Difference>();
  for (const { side, line, steps } of all) {
    const key = `${line}\n${side}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { side, line, steps: [...steps] });
    else known.steps.push(...steps);
  }
  return [...merged.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, difference]) => difference);
}

/** Returns the lines of each step by name. If a name occurs again, a number is appended. */
function byName({ steps, names }: Observed): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, message } of steps) {
    let unique = name;
    for (let number = 2; found.has(unique); number++) unique = `${name} (${number})`;
    found.set(unique, normalized(flatten(message), names));
  }
  return found;
}
