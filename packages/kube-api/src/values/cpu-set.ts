import { PodwrightError } from '@podwright/base';

/** Highest CPU number: the kernel supports an NR_CPUS of up to 8192. */
const MAX_CPU = 8191;

/**
 * Parses a CPU list such as `0,2-3` (cpuset(7)) into ascending CPU numbers; '' is an empty list. Throws `invalid_argument` if the list is
 * malformed.
 */
export function parseCpus(text: string): number[] {
  const cpus = new Set<number>();
  for (const part of text === '' ? [] : text.split(',')) {
    const [, from, to = from] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === undefined || first > last || last > MAX_CPU) {
      const shown = JSON.stringify(text.slice(0, 100));
      throw new PodwrightError('invalid_argument', `${shown} is not a list of processors such as 0,2-3`);
    }
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return sorted(cpus);
}

/** Formats a set of CPUs as accepted by `parseCpus`. */
export function formatCpus(cpus: Iterable<number>): string {
  const ranges: [number, number][] = [];
  for (const cpu of sorted(cpus)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === cpu - 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

const sorted = (cpus: Iterable<number>): number[] => [...new Set(cpus)].sort((a, b) => a - b);

/** Set operations on CPU lists. The results are in ascending order if the arguments are. */
export const unionOf = (...sets: number[][]): number[] => sorted(sets.flat());
export function intersectionOf(cpus: number[], others: number[]): number[] {
  const wanted = new Set(others);
  return cpus.filter((cpu) => wanted.has(cpu));
}
export function differenceOf(cpus: number[], others: number[]): number[] {
  const unwanted = new Set(others);
  return cpus.filter((cpu) => !unwanted.has(cpu));
}
export const isSameSet = (cpus: number[], others: number[]) => formatCpus(cpus) === formatCpus(others);
