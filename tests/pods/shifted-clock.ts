/**
 * Preloaded into a program: shifts its wall clock by the milliseconds in the file SHIFTED_CLOCK, which is read at each SIGUSR2. Timers
 * are not affected, as when the clock of a host is set.
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
