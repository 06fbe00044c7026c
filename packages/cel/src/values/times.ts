/** Timestamps and durations: formats, ranges and fields (CEL specification, "Timestamps"; Go's package time). */
import { CelError, Duration, Timestamp } from './values.ts';

const NANOSECONDS = 1_000_000_000n;
const MIN_TIMESTAMP = -62_135_596_800n * NANOSECONDS;
const MAX_TIMESTAMP = 253_402_300_800n * NANOSECONDS - 1n;
const MAX_DURATION = 2n ** 63n - 1n;

/** Creates a timestamp. Throws if the time is outside the years 1 to 9999. */
export function timestampOf(nanoseconds: bigint): Timestamp {
  if (nanoseconds < MIN_TIMESTAMP || nanoseconds > MAX_TIMESTAMP) throw new CelError('timestamp overflow');
  return new Timestamp(nanoseconds);
}

/** Creates a duration. Throws if it is longer than 292 years. */
export function durationOf(nanoseconds: bigint): Duration {
  if (nanoseconds > MAX_DURATION || nanoseconds < -MAX_DURATION - 1n) throw new CelError('duration overflow');
  return new Duration(nanoseconds);
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Parses an RFC 3339 timestamp; returns `undefined` if the text is not one. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const [all, year, month, day, hour, minute, second, fraction = '', sign, zoneHour = '0', zoneMinute = '0'] =
    RFC3339.exec(text) ?? [];
  if (all === undefined) return undefined;
  const numbers = [year, month, day, hour, minute, second].map(Number);
  const date = new Date(0);
  date.setUTCFullYear(numbers[0]!, numbers[1]! - 1, numbers[2]!);
  if (date.getUTCMonth() !== numbers[1]! - 1 || date.getUTCDate() !== numbers[2]!) return undefined;
  if (numbers[3]! > 23 || numbers[4]! > 59 || numbers[5]! > 59 || Number(zoneHour) > 23 || Number(zoneMinute) > 59)
    return undefined;
  date.setUTCHours(numbers[3]!, numbers[4]!, numbers[5]!);
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -60_000 : 60_000);
  const nanoseconds = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const total = (BigInt(date.getTime() - zone) / 1000n) * NANOSECONDS + nanoseconds;
  return total < MIN_TIMESTAMP || total > MAX_TIMESTAMP ? undefined : new Timestamp(total);
}

/** Formats a timestamp as RFC 3339, in UTC. */
export function timestampText({ nanoseconds }: Timestamp): string {
  const { seconds, rest } = parts(nanoseconds);
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${date}${fractionText(rest)}Z`;
}

function parts(nanoseconds: bigint): { seconds: bigint; rest: bigint } {
  const rest = ((nanoseconds % NANOSECONDS) + NANOSECONDS) % NANOSECONDS;
  return { seconds: (nanoseconds - rest) / NANOSECONDS, rest };
}

function fractionText(nanoseconds: bigint): string {
  const digits = nanoseconds.toString().padStart(9, '0').replace(/0+$/, '');
  return digits === '' ? '' : `.${digits}`;
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  \u03bcs: 1000n,
  ms: 1_000_000n,
  s: NANOSECONDS,
  m: 60n * NANOSECONDS,
  h: 3600n * NANOSECONDS,
};

/** Parses a duration such as `1h30m` (Go, time.ParseDuration); returns `undefined` if the text is not one. */
export function parseDuration(text: string): Duration | undefined {
  const sign = text.startsWith('-') ? -1n : 1n;
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return new Duration(0n);
  if (body.length > 1000 || !/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|\u03bcs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)\.?(\d*)(ns|us|µs|\u03bcs|ms|s|m|h)/g)) {
    const size = UNITS[unit]!;
    total += BigInt(whole || 0) * size;
    if (fraction !== '') total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  total *= sign;
  return total > MAX_DURATION || total < -MAX_DURATION - 1n ? undefined : new Duration(total);
}

/** Formats a duration in seconds, such as `5400s`. */
export function durationText({ nanoseconds }: Duration): string {
  const absolute = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const { seconds, rest } = parts(absolute);
  return `${nanoseconds < 0n ? '-' : ''}${seconds}${fractionText(rest)}s`;
}

/** The fields of a timestamp in a time zone such as `UTC`, `+02:00` or `Europe/Berlin`. */
export type TimeFields = {
  year: number;
  /** The month, 0-based like all other fields except `year` and `day`. */
  month: number;
  day: number;
  dayOfYear: number;
  dayOfWeek: number;
  hours: number;
  minutes: number;
  seconds: number;
  milliseconds: number;
};

/** Returns the fields of a timestamp in a time zone. Throws for an unknown zone. */
export function fieldsOf({ nanoseconds }: Timestamp, zone = 'UTC'): TimeFields {
  const { seconds, rest } = parts(nanoseconds);
  const local = new Date(Number(seconds) * 1000 + offsetMs(Number(seconds) * 1000, zone));
  const startOfYear = new Date(0);
  startOfYear.setUTCFullYear(local.getUTCFullYear(), 0, 1);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    dayOfYear: Math.floor((local.getTime() - startOfYear.getTime()) / 86_400_000),
    dayOfWeek: local.getUTCDay(),
    hours: local.getUTCHours(),
    minutes: local.getUTCMinutes(),
    seconds: local.getUTCSeconds(),
    milliseconds: Number(rest / 1_000_000n),
  };
}

function offsetMs(timeMs: number, zone: string): number {
  if (zone === 'UTC' || zone === '') return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined) return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  return namedOffsetMs(timeMs, zone);
}

function namedOffsetMs(timeMs: number, zone: string): number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
  const name = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name) ?? [];
  const total = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -total : total;
}
