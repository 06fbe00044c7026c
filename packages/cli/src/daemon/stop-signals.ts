import { isatty } from 'node:tty';
import type { Logger } from '@podwright/base';

/**
 * Calls `stop` on SIGTERM, SIGINT and SIGHUP, and logs the signal. SIGHUP is ignored if standard input is not a terminal: nohup(1), which
 * replaces standard input, may have started the daemon with SIGHUP ignored. The daemon cannot check for that, because Node.js resets
 * ignored signals at startup.
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
