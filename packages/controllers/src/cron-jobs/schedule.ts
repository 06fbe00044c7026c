/** CronJob schedules, in the standard format of robfig/cron v3 and with its behavior around clock changes. */
import { parseGoDuration } from '@podwright/kube-api';
import { WallClock, type WallTime } from './wall-clock.ts';

export type Schedule = {
  /** Returns the first scheduled time after `ms` (Unix milliseconds); undefined if there is none within five years. */
  next: (ms: number) => number | undefined;
  /** Returns the last scheduled time after `fromMs` and up to `untilMs`; undefined if there is none. */
  last: (fromMs: number, untilMs: number) => number | undefined;
};

/** A field of a schedule. `isAny` is set for `*` and `?` without a step: such a field does not restrict the day. */
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
 * Parses a schedule, which may start with `TZ=ZONE` or `CRON_TZ=ZONE`. Default: the time zone of this process. Throws if the schedule is
 * invalid; the API server admits only valid ones.
 */
export function parseSchedule(text: string, zone?: string): Schedule {
  const [, ownZone, spec = ''] = /^(?:(?:CRON_)?TZ=(\S*)\s+)?(.*)$/s.exec(text.trim()) ?? [];
  if (spec.startsWith(EVERY)) return everySchedule(spec);
  const fields = parseFields(DESCRIPTORS[spec] ?? spec);
  const clock = new WallClock(ownZone ?? zone);
  const next = (ms: number) => nextTime(fields, clock, ms);
  return { next, last: (fromMs, untilMs) => lastTime(next, fromMs, untilMs) };
}

/** Parses an `@every` schedule. Its delay counts from the previous time and is truncated to whole seconds. */
function everySchedule(spec: string): Schedule {
  const delayMs = parseGoDuration(spec.slice(EVERY.length));
  if (delayMs === undefined) throw new Error(`failed to parse duration ${spec.slice(EVERY.length)}`);
  const delaySeconds = Math.max(1, Math.floor(delayMs / 1000));
  const delay = delaySeconds * 1000;
  const whole = (ms: number) => Math.floor(ms / 1000) * 1000;
  return {
    next: (ms) => whole(ms) + delay,
    last: (fromMs, untilMs) => {
      const count = Math.floor((untilMs - whole(fromMs)) / delay);
      return count < 1 ? undefined : whole(fromMs) + count * delay;
    },
  };
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

/** The range of a field's values. `names[0]` is the name of `min`. */
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
 * Finds the first later minute whose wall-clock time matches the schedule. As in robfig/cron, times skipped by a clock change are omitted,
 * and repeated ones count twice. Steps are shorter than the unit that does not match, because a clock change makes days shorter or longer.
 */
function nextTime(fields: Fields, clock: WallClock, afterMs: number): number | undefined {
  if (fields.minute.values.size === 0 || fields.hour.values.size === 0) return undefined; // `,` is a list without values
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

/** Finds the last time by bisection: a schedule may fire every minute for years. */
function lastTime(next: Schedule['next'], fromMs: number, untilMs: number): number | undefined {
  const nextUntil = (ms: number) => {
    const time = next(ms);
    return time === undefined || time > untilMs ? undefined : time;
  };
  let last = nextUntil(fromMs);
  for (let endMs = untilMs; last !== undefined && last < endMs; ) {
    const middle = last + Math.floor((endMs - last) / 2);
    const later = nextUntil(middle);
    if (later === undefined) endMs = middle;
    else last = later;
  }
  return last;
}

/** Returns 0 if a schedule's fields match the wall-clock time, otherwise a step in milliseconds that cannot skip a match. */
function stepOf(fields: Fields, wall: WallTime): number {
  const { minute, hour } = fields;
  const leftInHour = (60 - wall.minute) * MINUTE_MS;
  const leftInDay = leftInHour + (23 - wall.hour) * HOUR_MS;
  const days = daysUntilMatch(fields, wall);
  // one day less, because a time zone change can skip a day
  if (days > 2) return leftInDay + (days - 2) * DAY_MS;
  if (days > 0) return longStep(leftInDay, leftInHour);
  if (!hour.values.has(wall.hour)) return leftInHour;
  for (let next = wall.minute; next < 60; next++) if (minute.values.has(next)) return (next - wall.minute) * MINUTE_MS;
  return leftInHour;
}

/** Returns the number of days until a matching date, going by the calendar alone, or more than the search range if there is none. */
function daysUntilMatch({ day, month, weekday }: Fields, wall: WallTime): number {
  const isEither = !day.isAny && !weekday.isAny;
  const date = new Date(Date.UTC(wall.year, wall.month - 1, wall.day));
  for (let days = 0; days * DAY_MS <= SEARCH_MS; days++) {
    const isDay = day.values.has(date.getUTCDate());
    const isWeekday = weekday.values.has(date.getUTCDay());
    const matchesDay = isEither ? isDay || isWeekday : isDay && isWeekday;
    if (matchesDay && month.values.has(date.getUTCMonth() + 1)) return days;
    date.setUTCDate(date.getUTCDate() + 1);
  }
  return SEARCH_MS / DAY_MS + 2;
}

/** Returns a step toward the next day: to two hours before midnight, then hour by hour. */
function longStep(leftInDay: number, leftInHour: number): number {
  return leftInDay > 3 * HOUR_MS ? leftInDay - 2 * HOUR_MS : leftInHour;
}
