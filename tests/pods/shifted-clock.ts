/**
 * Preloaded into a program to shift its wall clock by the milliseconds in the file SHIFTED_CLOCK, which is read on each SIGUSR2. Timers are
 * unaffected, as when a host's clock is set.
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
