import { PodwrightError } from '@podwright/base';
import { Signal } from '../messages.ts';

/** The name of a CRI signal in the spelling of image configs (`SIGRTMIN+3`); '' for the runtime's default. */
export function signalName(signal: Signal): string {
  if (signal === Signal.RUNTIME_DEFAULT) return '';
  const name = Signal[signal];
  if (name === undefined) throw new PodwrightError('invalid_argument', `stopSignal ${signal} is unknown`);
  const same = SAME[name];
  if (same !== undefined) return same;
  return name.replace('PLUS', '+').replace('MINUS', '-');
}

/** libc's older aliases of signals. */
const SAME: Record<string, string> = { SIGCLD: 'SIGCHLD', SIGIOT: 'SIGABRT' };

/** The CRI value of a signal, given by its name in the spelling of image configs or by a real-time signal's number. */
export function criSignal(name: string): Signal {
  const number = Number(name);
  if (Number.isInteger(number)) return realTimeSignal(number);
  const spelled = name.replace('+', 'PLUS').replace('-', 'MINUS');
  return (Signal as unknown as Record<string, Signal>)[spelled] ?? Signal.RUNTIME_DEFAULT;
}

/** SIGRTMIN is 34, SIGRTMAX 64. Signals between them are named by the nearer end, as in `kill -l`. */
function realTimeSignal(number: number): Signal {
  if (number === 34) return Signal.SIGRTMIN;
  if (number === 64) return Signal.SIGRTMAX;
  const name = number <= 49 ? `SIGRTMINPLUS${number - 34}` : `SIGRTMAXMINUS${64 - number}`;
  return (Signal as unknown as Record<string, Signal>)[name] ?? Signal.RUNTIME_DEFAULT;
}
