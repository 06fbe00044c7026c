import { constants } from 'node:os';
import { isErrno, Timer } from '@podwright/base';
import { LAST_INTERRUPT_MS } from '../limits.ts';
import { tellOutputFailed } from '../output/standard-output.ts';
import { canRedraw } from '../output/terminal.ts';

/** The reason of an aborted signal when a person pressed Ctrl-C, the process was asked to end, or nobody reads its output any more. */
export class Interrupted extends Error {
  readonly exitCode: number;

  /** The default is what a shell shows of a process that the signal ended. */
  constructor(by: NodeJS.Signals, exitCode: number = 128 + constants.signals[by]) {
    super(`interrupted by ${by}`);
    this.exitCode = exitCode;
  }
}

/** The reason of an aborted signal when `--timeout` is over. */
export class TimedOut extends Error {
  readonly seconds: number;

  constructor(timeoutMs: number) {
    super(`--timeout ${timeoutMs / 1000}s is over`);
    this.seconds = timeoutMs / 1000;
  }
}

/**
 * `first` aborts when the command is to end, `again` when that is to be quick, `last` when nothing more is to be waited for: by a
 * signal that comes some time after the second, as impatient people press Ctrl-C more than once.
 */
export type Interrupts = { first: AbortSignal; again: AbortSignal; last: AbortSignal };

/**
 * Listens to SIGINT, SIGTERM and SIGHUP for as long as the process lives, so that what the command made is taken down first. A
 * standard output that cannot be written any more is one more reason to end, not to exit at once.
 */
export function listenForInterrupts(): Interrupts {
  const [first, again, last] = [new AbortController(), new AbortController(), new AbortController()];
  let isLong = false;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      // what the terminal shows of Ctrl-C is no beginning of a sentence
      if (name === 'SIGINT' && canRedraw(process.stderr)) process.stderr.write('\r\x1b[K');
      const next = [first, again].find(({ signal }) => !signal.aborted);
      if (next === again) setTimeout(() => (isLong = true), LAST_INTERRUPT_MS).unref();
      (next ?? (isLong ? last : undefined))?.abort(new Interrupted(name));
    });
  process.stdout.removeAllListeners('error'); // the one that exits
  process.stdout.on('error', (error) => {
    const closed = isErrno(error, 'EPIPE');
    if (!first.signal.aborted && !closed) tellOutputFailed(error);
    first.abort(new Interrupted('SIGPIPE', closed ? undefined : 1));
  });
  process.stderr.on('error', () => undefined);
  return { first: first.signal, again: again.signal, last: last.signal };
}

/** A signal that aborts with `TimedOut` after `timeoutMs`, never for `undefined`. It does not keep the command from ending earlier. */
export function timeoutSignal(timeoutMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  if (timeoutMs !== undefined) new Timer(() => controller.abort(new TimedOut(timeoutMs)), timeoutMs).unref();
  return controller.signal;
}
