import { constants } from 'node:os';
import { PodwrightError } from '@podwright/base';

/** Default stop signal, used if neither the image nor the container's configuration sets one. */
const DEFAULT_SIGNAL = 'SIGTERM';
/** Range of real-time signals, in the C library's numbering. */
const SIGRTMIN = 34;
const SIGRTMAX = 64;

/** Returns the signal's name or, for a real-time signal, its number. Accepts `SIGINT`, `INT`, `2` and `SIGRTMIN+3`; '' means SIGTERM. */
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
