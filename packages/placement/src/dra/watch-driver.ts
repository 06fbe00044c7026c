import { connect } from 'node:net';
import { errorCode, errorMessage, type Logger, sleep } from '@podwright/base';
import { connectService } from '@podwright/grpc';
import { type DeviceHealth, DRAResourceHealth } from '../dra-health-api.ts';
import { MAX_PLUGIN_ANSWER_BYTES } from '../plugins/limits.ts';

/** How long a watch must stay open for the driver to count as reachable. */
const DRA_REACHED_AFTER_MS = 1000;

/** Delay before restarting the watch of a DRA driver's device health, as in upstream. */
const DRA_WATCH_RETRY_MS = 5000;

export type DriverWatch = {
  /** Called when the driver's socket becomes unreachable or reachable again. Drivers are initially assumed to be reachable. */
  onReach: (isReached: boolean) => void;
  /** Called with the health of all the driver's devices, or with `undefined` when the driver stops reporting. */
  onHealth: (devices: DeviceHealth[] | undefined) => void;
  logger: Logger;
  /** Delay before a watch is restarted, in milliseconds. Default: 5 s, as in upstream. */
  retryMs?: number;
};

/** Watches a driver's health reports and the reachability of its socket until `signal` aborts. Reporting health is optional for drivers. */
export async function watchDriver(socket: string, watch: DriverWatch, signal: AbortSignal): Promise<void> {
  const service = connectService(DRAResourceHealth, socket, { maxReceiveBytes: MAX_PLUGIN_ANSWER_BYTES });
  let isReached = true;
  const reach = (now: boolean) => {
    if (now === isReached || signal.aborted) return;
    isReached = now;
    watch.onReach(now);
  };
  while (!signal.aborted) {
    const reached = setTimeout(() => reach(true), DRA_REACHED_AFTER_MS);
    let hasReported = false;
    try {
      const options = { signal, timeoutMs: Number.POSITIVE_INFINITY };
      for await (const { devices } of service.nodeWatchResources({}, options)) {
        reach(true);
        hasReported = true;
        watch.onHealth(devices);
      }
    } catch (error) {
      reach(errorCode(error) !== 'unavailable' || (await isServed(socket)));
      watch.logger.debug(
        { socket, error: errorMessage(error) },
        'a DRA driver does not report the health of its devices',
      );
    } finally {
      clearTimeout(reached);
    }
    if (hasReported && !signal.aborted) watch.onHealth(undefined);
    await sleep(watch.retryMs ?? DRA_WATCH_RETRY_MS, signal).catch(() => undefined);
  }
  service.close();
}

/**
 * Whether the driver's socket accepts connections. A gRPC `unavailable` error does not show this, because a reachable driver can return
 * that error too.
 */
function isServed(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
