/** A wall-clock time in a time zone. */
export type WallTime = { year: number; month: number; day: number; weekday: number; hour: number; minute: number };

const MINUTE_MS = 60_000;

/** Converts Unix times to wall-clock times in a zone, given by its IANA name. Default: the zone of this process. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat;

  /** Throws a `RangeError` if `zone` is not a known time zone. */
  constructor(zone?: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  at(ms: number): WallTime {
    const wall = new Date(this.#wallMs(ms));
    return {
      year: wall.getUTCFullYear(),
      month: wall.getUTCMonth() + 1,
      day: wall.getUTCDate(),
      weekday: wall.getUTCDay(),
      hour: wall.getUTCHours(),
      minute: wall.getUTCMinutes(),
    };
  }

  /**
   * Formats a time as RFC 3339 in whole seconds with the zone's offset, such as `2026-01-01T08:00:00+01:00`, or `Z` if the offset is zero.
   */
  format(ms: number): string {
    const wallMs = this.#wallMs(ms);
    const offset = Math.round((wallMs - Math.floor(ms / 1000) * 1000) / MINUTE_MS);
    const text = new Date(wallMs).toISOString().slice(0, -'.000Z'.length);
    if (offset === 0) return `${text}Z`;
    const two = (value: number) => String(value).padStart(2, '0');
    const size = Math.abs(offset);
    return `${text}${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }

  /** Returns the Unix time at which UTC clocks show what the zone's clocks show at `ms`. */
  #wallMs(ms: number): number {
    const parts = Object.fromEntries(this.#format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }
}
