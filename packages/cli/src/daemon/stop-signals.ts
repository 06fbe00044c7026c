import { isatty } from 'node:tty';
import type { Logger } from '@podwright/base';

/**
 * Calls `stop` at SIGTERM, SIGINT and SIGHUP, and logs the signal. Without a terminal as standard input it ignores SIGHUP, since nohup(1),
 * which replaces the input, may have started the daemon with SIGHUP ignored. Node.js resets ignored signals at its start, so the daemon
 * cannot check that.
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
