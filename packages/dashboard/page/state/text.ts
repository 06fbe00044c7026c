/** Formats times, sizes and counts as short text, and compares text. Pure functions. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats an age in milliseconds using one or two units: `45s`, `5m`, `3h20m`, `12d`. */
export function ageText(ms: number): string {
  const age = Math.max(0, ms);
  if (age < 2 * MINUTE_MS) return `${Math.floor(age / SECOND_MS)}s`;
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)}m`;
  if (age < 10 * HOUR_MS) return `${Math.floor(age / HOUR_MS)}h${Math.floor((age % HOUR_MS) / MINUTE_MS)}m`;
  if (age < 2 * DAY_MS) return `${Math.floor(age / HOUR_MS)}h`;
  return `${Math.floor(age / DAY_MS)}d`;
}

/** Formats a duration in milliseconds: `350 ms`, `1.2 s`, `45 s`, `5m10s`. */
export function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m${Math.floor((ms % MINUTE_MS) / SECOND_MS)}s`;
  return ageText(ms);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats bytes using binary units, with one decimal below 10: `1.5 MiB`, `24 GiB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [Math.max(0, bytes), 0];
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Formats a number of CPU cores: `0.25`, `12`. */
export const coresText = (cores: number): string => (cores < 10 ? cores.toFixed(2) : cores.toFixed(0));

/** Formats a fraction from 0 to 1 as a percentage: `42 %`. */
export const percentText = (share: number): string => `${Math.round(share * 100)} %`;

/** Formats a time in Unix milliseconds: the time of day, preceded by the date unless it is today. */
export function clockText(timeMs: number, nowMs: number): string {
  const date = new Date(timeMs);
  const time = date.toLocaleTimeString(undefined, { hour12: false });
  return date.toDateString() === new Date(nowMs).toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

/** Formats a count with its noun: `1 pod`, `2,000 pods`. `many`: the plural, if it is irregular. */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${groupedText(count)} ${count === 1 ? one : many}`;

/** Smaller numbers have no separators, and the first call of `toLocaleString` takes 20 ms. */
const groupedText = (count: number): string => (count < 1000 ? String(count) : count.toLocaleString('en'));

/** Comparator that orders text by UTF-16 code units. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
