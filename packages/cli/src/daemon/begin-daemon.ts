import {
  createLogger,
  DAEMON_UMASK,
  errorMessage,
  type Logger,
  makePrivateDirectory,
  setChainLimits,
} from '@podwright/base';
import { requireSocketPath } from '@podwright/host';
import type { StopOptions } from '@podwright/node-api';
import { chainLimiter, type System } from '@podwright/system';
import type { NodeConfig } from '../settings/node-config.ts';
import { daemonHeap, type Heap } from './heap.ts';
import { holdProgram } from './held-program.ts';
import { requireFormats } from './record-formats.ts';
import { onStopSignal } from './stop-signals.ts';
import { raiseUserLimits } from './user-limits.ts';

/**
 * Sets up a daemon's process. Throws `failed_precondition` if the records in `root` were written by a newer version, and `invalid_argument`
 * if a socket path is too long to bind. The returned `stopped` resolves on the first stop signal (see `onStopSignal`) or call of `request`.
 * If `system` is given, freed memory is returned to the kernel; pass it if the daemon loads the FFI anyway.
 */
export function beginDaemon(
  {
    root,
    state,
    log_level: level,
    fast_paths: fastPaths,
    apiSocket,
    criSocket,
  }: Pick<NodeConfig, 'root' | 'state' | 'log_level' | 'fast_paths' | 'apiSocket' | 'criSocket'>,
  system?: System,
): {
  stopped: Promise<StopOptions>;
  request: (request: StopOptions) => void;
  countBuffer: Heap['countBuffer'];
} {
  holdProgram(new URL('.', import.meta.url));
  for (const socket of [apiSocket, criSocket]) requireSocketPath(socket);
  requireFormats(root);
  process.umask(DAEMON_UMASK); // independent of the shell or the service manager
  for (const directory of [root, state]) makePrivateDirectory(directory);
  raiseUserLimits(createLogger({ name: 'limits', level }));
  const heap = daemonHeap(fastPaths);
  heap.watch(system && (() => system.trimMemory()));
  const { promise, resolve } = Promise.withResolvers<StopOptions>();
  const logger = createLogger({ name: 'daemon', level });
  setChainLimits(chainLimiter((error) => warnOfChains(logger, error)));
  onStopSignal(logger, () => resolve({ removeHostState: false, endPods: false }));
  return { stopped: promise, request: resolve, countBuffer: heap.countBuffer };
}

function warnOfChains(logger: Logger, error: unknown): void {
  const problem = { error: errorMessage(error) };
  logger.warn(problem, 'certificate chains of TLS peers are not limited: a hostile peer can stall this process');
}
