/**
 * Loaded into a program before all else: its wall clock is off by as many milliseconds as the file says that SHIFTED_CLOCK names, which is
 * read with each SIGUSR2. Its timers go on, as those of a host do whose clock somebody sets.
 */
import { readFileSync } from 'node:fs';

let offMs = 0;
process.on('SIGUSR2', () => {
  offMs = Number(readFileSync(process.env.SHIFTED_CLOCK!, 'utf8'));
});

const { now } = Date;
globalThis.Date = new Proxy(Date, {
  construct: (date, given, made) => Reflect.construct(date, given.length === 0 ? [now() + offMs] : given, made),
});
Date.now = () => now() + offMs;
