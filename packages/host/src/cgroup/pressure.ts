import { readFileSync } from 'node:fs';
import type { CgroupHierarchy } from './hierarchy.ts';
import { keyed, statsFilesIn } from './stats-files.ts';

/**
 * Time during which at least one task (`some`) or all tasks (`full`) were stalled. Averages are percentages over 10, 60 and 300 seconds.
 */
export type PressureStats = Partial<
  Record<'some' | 'full', { avg10: number; avg60: number; avg300: number; totalMicroseconds: number }>
>;

/** Pressure stall information (psi.rst) by resource. */
export type CgroupPressure = Partial<Record<'cpu' | 'memory' | 'io', PressureStats>>;

/**
 * Reads the cgroup's pressure. Every v2 cgroup reports it, whichever controllers are enabled. On a hybrid host, returns `undefined` unless
 * the cgroup's processes are also in the v2 hierarchy.
 */
export function readPressure(hierarchy: CgroupHierarchy, path: string): CgroupPressure | undefined {
  const tree = hierarchy.trees.find(({ version }) => version === 2);
  if (tree === undefined) return undefined;
  const files = statsFilesIn(tree, path);
  if (hierarchy.mode === 'hybrid' && keyed(files.read('cgroup.events')).populated !== 1) return undefined;
  const found: CgroupPressure = {};
  for (const resource of ['cpu', 'memory', 'io'] as const) {
    const pressure = parsePressure(files.read(`${resource}.pressure`));
    if (pressure !== undefined) found[resource] = pressure;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Reads the pressure of the whole host; returns `undefined` if the kernel does not measure it. */
export function readHostPressure(): CgroupPressure | undefined {
  try {
    const of = (resource: string) => parsePressure(readFileSync(`/proc/pressure/${resource}`, 'utf8'));
    return { cpu: of('cpu'), memory: of('memory'), io: of('io') };
  } catch {
    return undefined;
  }
}

/**
 * Parses a pressure file, which has lines such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`; returns `undefined` if there are none.
 */
export function parsePressure(text: string): PressureStats | undefined {
  const stats: PressureStats = {};
  for (const line of text.matchAll(/^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm)) {
    const [avg10, avg60, avg300, totalMicroseconds] = line.slice(2).map(Number) as [number, number, number, number];
    stats[line[1] as 'some' | 'full'] = { avg10, avg60, avg300, totalMicroseconds };
  }
  return Object.keys(stats).length === 0 ? undefined : stats;
}
