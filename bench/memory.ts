import { readdirSync, readFileSync } from 'node:fs';

/** Memory of a process in MiB; zeros once it has gone. */
export function memoryOf(pid: number): { rss: number; pss: number } {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  } catch {
    return { rss: 0, pss: 0 };
  }
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { rss: value('Rss'), pss: value('Pss') };
}

/** Every process of the machine. */
export function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Name of a process, '' once it has gone. */
export function processName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}
