import { constants } from 'node:os';
import { PodwrightError } from '@podwright/base';

/** Stop signal of a container if neither its image nor its configuration sets one. */
const DEFAULT_SIGNAL = 'SIGTERM';
/** Real-time signals, as numbered by the C library. */
const SIGRTMIN = 34;
const SIGRTMAX = 64;

/** The signal's name or, for real-time ones, its number. Accepts `SIGINT`, `INT`, `2`, `SIGRTMIN+3`; '' is SIGTERM. */
export function parseStopSignal(text: string): string {
  if (text === '') return DEFAULT_SIGNAL;
  const name = text.toUpperCase().replace(/^(?!SIG)(?=[A-Z])/, 'SIG');
  if (name in constants.signals) return name;
  if (/^\d+$/.test(name)) {
    const number = Number(name);
    const known = Object.entries(constants.signals).find(([, value]) => value === number);
    if (known !== undefined) return known[0];
    if (number > 0 && number <= SIGRTMAX) return String(number);
  }
  const realTime = /^SIGRT(?:MIN(?:\+(\d{1,2}))?|MAX(?:-(\d{1,2}))?)$/.exec(name);
  if (realTime !== null) {
    const fromMax = name.startsWith('SIGRTMAX');
    const number = fromMax ? SIGRTMAX - Number(realTime[2] ?? 0) : SIGRTMIN + Number(realTime[1] ?? 0);
    if (number >= SIGRTMIN && number <= SIGRTMAX) return String(number);
  }
  throw new PodwrightError('invalid_argument', `read stop signal "${text}": there is no such signal`);
}
