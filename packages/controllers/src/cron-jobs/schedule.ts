/** Schedules of CronJobs, in the standard format of robfig/cron v3, with its times around changes of the clocks. */
import { parseGoDuration } from '@podwright/kube-api';
import { WallClock, type WallTime } from './wall-clock.ts';

export type Schedule = {
  /** Returns the first time of the schedule after `ms` (Unix milliseconds), or nothing if none is in the next five years. */
  next: (ms: number) => number | undefined;
};

/** `isAny` is set for `*` and `?` without a step: such a field does not restrict the day. */
type Field = { values: ReadonlySet<number>; isAny: boolean };
type Fields = { minute: Field; hour: Field; day: Field; month: Field; weekday: Field };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const EVERY = '@every ';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SEARCH_MS = 5 * 366 * DAY_MS;

/**
 * Parses a schedule, which may begin with `TZ=ZONE` or `CRON_TZ=ZONE`. Without a zone it is that of this process. Throws an error if the
 * schedule is invalid; the API server admits valid ones only.
 */
export function parseSchedule(text: string, zone?: string): Schedule {
  const [, ownZone, spec = ''] = /^(?:(?:CRON_)?TZ=(\S*)\s+)?(.*)$/s.exec(text.trim()) ?? [];
  if (spec.startsWith(EVERY)) return everySchedule(spec);
  const fields = parseFields(DESCRIPTORS[spec] ?? spec);
  const clock = new WallClock(ownZone ?? zone);
  return { next: (ms) => nextTime(fields, clock, ms) };
}

/** The delay counts from the last time, in whole seconds. */
function everySchedule(spec: string): Schedule {
  const delayMs = parseGoDuration(spec.slice(EVERY.length));
  if (delayMs === undefined) throw new Error(`failed to parse duration ${spec.slice(EVERY.length)}`);
  const delaySeconds = Math.max(1, Math.floor(delayMs / 1000));
  return { next: (ms) => (Math.floor(ms / 1000) + delaySeconds) * 1000 };
}

function parseFields(spec: string): Fields {
  const texts = spec.split(/\s+/);
  if (texts.length !== 5) throw new Error(`expected exactly 5 fields, found ${texts.length}: [${texts.join(' ')}]`);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = texts;
  return {
    minute: parseField(minute, { min: 0, max: 59 }),
    hour: parseField(hour, { min: 0, max: 23 }),
    day: parseField(day, { min: 1, max: 31 }),
    month: parseField(month, { min: 1, max: 12, names: MONTHS }),
    weekday: parseField(weekday, { min: 0, max: 6, names: WEEKDAYS }),
  };
}

/** `names[0]` is the name of `min`. */
type Bounds = { min: number; max: number; names?: readonly string[] };

function parseField(text: string, bounds: Bounds): Field {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [, low = '', high, step] = /^([^-/]+)(?:-([^/]+))?(?:\/(\+?\d+))?$/.exec(part) ?? [];
    const isStar = low === '*' || low === '?';
    const first = isStar ? bounds.min : parseValue(low, bounds);
    const open = isStar || (high === undefined && step !== undefined);
    const last = open ? bounds.max : high === undefined ? first : parseValue(high, bounds);
    const size = Number(step ?? 1);
    if (!(first <= last && size > 0)) throw new Error(`invalid part of a schedule: ${part}`);
    for (let value = first; value <= last; value += size) values.add(value);
    isAny ||= isStar && size === 1;
  }
  return { values, isAny };
}

function parseValue(text: string, { min, max, names = [] }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  const value = index >= 0 ? index + min : /^\+?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new Error(`invalid value of a schedule: ${text}`);
  return value;
}

/**
 * Finds the first later minute whose wall time matches. So a time that the clocks skip is left out, and one that they show twice counts twice, as
 * in robfig/cron. Steps are shorter than the unit that does not match, because days can be shorter or longer by a change of the clocks.
 */
function nextTime(fields: Fields, clock: WallClock, afterMs: number): number | undefined {
  let ms = (Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS;
  const endMs = afterMs + SEARCH_MS;
  while (ms <= endMs) {
    const wall = clock.at(ms);
    const stepMs = stepOf(fields, wall);
    if (stepMs === 0) return ms;
    ms += stepMs;
  }
  return undefined;
}

/** Returns 0 if the wall time matches, else a time to go on without passing one that matches. */
function stepOf({ minute, hour, day, month, weekday }: Fields, wall: WallTime): number {
  const leftInHour = (60 - wall.minute) * MINUTE_MS;
  const leftInDay = leftInHour + (23 - wall.hour) * HOUR_MS;
  if (!month.values.has(wall.month)) return wall.day < 27 ? (27 - wall.day) * DAY_MS : longStep(leftInDay, leftInHour);
  const isDay = day.values.has(wall.day);
  const isWeekday = weekday.values.has(wall.weekday);
  const matchesDay = day.isAny || weekday.isAny ? isDay && isWeekday : isDay || isWeekday;
  if (!matchesDay) return longStep(leftInDay, leftInHour);
  if (!hour.values.has(wall.hour)) return leftInHour;
  for (let next = wall.minute; next < 60; next++) if (minute.values.has(next)) return (next - wall.minute) * MINUTE_MS;
  return leftInHour;
}

/** Goes to two hours before midnight, then from hour to hour. */
function longStep(leftInDay: number, leftInHour: number): number {
  return leftInDay > 3 * HOUR_MS ? leftInDay - 2 * HOUR_MS : leftInHour;
}
