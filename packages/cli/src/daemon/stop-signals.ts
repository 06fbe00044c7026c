import { isatty } from 'node:tty';
import type { Logger } from '@podwright/base';

/**
 * Calls `stop` at SIGTERM, SIGINT and SIGHUP, and logs the signal. SIGHUP is ignored without a terminal as standard input: nohup(1) has
 * made the process ignore it, and then replaced the input. Node.js resets ignored signals at its start, so they cannot be read.
 */
export function onStopSignal(logger: Logger, stop: () => void, hasTerminal = isatty(0)): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (signal === 'SIGHUP' && !hasTerminal)
        return logger.info({ signal }, 'ignoring a signal: there is no terminal');
      logger.info({ signal }, 'stopping: a signal was received');
      stop();
    });
}
