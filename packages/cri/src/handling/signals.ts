import { PodwrightError } from '@podwright/base';
import { Signal } from '../messages.ts';

/** Returns a CRI signal's name as spelled in image configs (`SIGRTMIN+3`), or '' for the container runtime's default. */
export function signalName(signal: Signal): string {
  if (signal === Signal.RUNTIME_DEFAULT) return '';
  const name = Signal[signal];
  if (name === undefined) throw new PodwrightError('invalid_argument', `stopSignal ${signal} is unknown`);
  const same = SAME[name];
  if (same !== undefined) return same;
  return name.replace('PLUS', '+').replace('MINUS', '-');
}

/** Legacy libc signal names, and their current names. */
const SAME: Record<string, string> = { SIGCLD: 'SIGCHLD', SIGIOT: 'SIGABRT' };

/** Returns the CRI value of a signal, given by its name as spelled in image configs, or by the number of a real-time signal. */
export function criSignal(name: string): Signal {
  const number = Number(name);
  if (Number.isInteger(number)) return realTimeSignal(number);
  const spelled = name.replace('+', 'PLUS').replace('-', 'MINUS');
  return (Signal as unknown as Record<string, Signal>)[spelled] ?? Signal.RUNTIME_DEFAULT;
}

/** Names a real-time signal relative to the nearer of SIGRTMIN (34) and SIGRTMAX (64), as `kill -l` does. */
function realTimeSignal(number: number): Signal {
  if (number === 34) return Signal.SIGRTMIN;
  if (number === 64) return Signal.SIGRTMAX;
  const name = number <= 49 ? `SIGRTMINPLUS${number - 34}` : `SIGRTMAXMINUS${64 - number}`;
  return (Signal as unknown as Record<string, Signal>)[name] ?? Signal.RUNTIME_DEFAULT;
}
