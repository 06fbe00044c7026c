import { constants } from 'node:os';
import { isErrno, Timer } from '@podwright/base';
import { LAST_INTERRUPT_MS } from '../limits.ts';
import { tellOutputFailed } from '../output/standard-output.ts';
import { canRedraw } from '../output/terminal.ts';

/** The abort reason after Ctrl-C, another terminating signal, or a failure to write to standard output. */
export class Interrupted extends Error {
  readonly exitCode: number;

  /** The exit code defaults to the one used by shells for a process killed by the signal. */
  constructor(by: NodeJS.Signals, exitCode: number = 128 + constants.signals[by]) {
    super(`interrupted by ${by}`);
    this.exitCode = exitCode;
  }
}

/** The abort reason when `--timeout` expires. */
export class TimedOut extends Error {
  readonly seconds: number;

  constructor(timeoutMs: number) {
    super(`--timeout ${timeoutMs / 1000}s is over`);
    this.seconds = timeoutMs / 1000;
  }
}

/**
 * The stages of interrupting a command. `first` aborts on the first Ctrl-C and starts a graceful exit. `again` aborts on the second and
 * speeds up the exit. `last` aborts on the next one after `LAST_INTERRUPT_MS` and ends all waiting; there is a delay because impatient
 * users press Ctrl-C several times.
 */
export type Interrupts = { first: AbortSignal; again: AbortSignal; last: AbortSignal };

/**
 * Handles SIGINT, SIGTERM and SIGHUP for the rest of the process's lifetime, so that the command can clean up first. A failure to write to
 * standard output aborts the same signals instead of exiting immediately.
 */
export function listenForInterrupts(): Interrupts {
  const [first, again, last] = [new AbortController(), new AbortController(), new AbortController()];
  let isLong = false;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      // erase the terminal's ^C before our next message
      if (name === 'SIGINT' && canRedraw(process.stderr)) process.stderr.write('\r\x1b[K');
      const next = [first, again].find(({ signal }) => !signal.aborted);
      if (next === again) setTimeout(() => (isLong = true), LAST_INTERRUPT_MS).unref();
      (next ?? (isLong ? last : undefined))?.abort(new Interrupted(name));
    });
  process.stdout.removeAllListeners('error'); // removes the listener that exits at once
  process.stdout.on('error', (error) => {
    const closed = isErrno(error, 'EPIPE');
    if (!first.signal.aborted && !closed) tellOutputFailed(error);
    first.abort(new Interrupted('SIGPIPE', closed ? undefined : 1));
  });
  process.stderr.on('error', () => undefined);
  return { first: first.signal, again: again.signal, last: last.signal };
}

/**
 * Returns a signal that aborts with `TimedOut` after `timeoutMs`, or never if it is `undefined`. The timer does not keep the process alive.
 */
export function timeoutSignal(timeoutMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  if (timeoutMs !== undefined) new Timer(() => controller.abort(new TimedOut(timeoutMs)), timeoutMs).unref();
  return controller.signal;
}
