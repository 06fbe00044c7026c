import { connect } from 'node:net';
import { errorCode, errorMessage, type Logger, sleep } from '@podwright/base';
import { connectService } from '@podwright/cri';
import { type DeviceHealth, DRAResourceHealth } from '@podwright/cri/dra-health';
import { MAX_PLUGIN_ANSWER_BYTES } from '../plugins/limits.ts';

/** A watch that has not failed for so long has reached its driver. */
const DRA_WATCH_STANDS_MS = 1000;

/** Pauses between watches of how the devices of a DRA driver are: upstream's. */
const DRA_WATCH_RETRY_MS = 5000;

export type DriverWatch = {
  /** Whether its socket can be reached, at each change; before the first one it can. */
  onReach: (isReached: boolean) => void;
  /** How its devices are, all of them; nothing when it tells no more. */
  onHealth: (devices: DeviceHealth[] | undefined) => void;
  logger: Logger;
  /** Between two watches. */
  retryMs?: number;
};

/** Follows what a driver tells of its devices, and by that whether it is there, until `signal`. Not every driver tells. */
export async function watchDriver(socket: string, watch: DriverWatch, signal: AbortSignal): Promise<void> {
  const service = connectService(DRAResourceHealth, socket, { maxReceiveBytes: MAX_PLUGIN_ANSWER_BYTES });
  let isReached = true;
  const reach = (now: boolean) => {
    if (now === isReached || signal.aborted) return;
    isReached = now;
    watch.onReach(now);
  };
  while (!signal.aborted) {
    const stands = setTimeout(() => reach(true), DRA_WATCH_STANDS_MS);
    let hasTold = false;
    try {
      const options = { signal, timeoutMs: Number.POSITIVE_INFINITY };
      for await (const { devices } of service.nodeWatchResources({}, options)) {
        reach(true);
        hasTold = true;
        watch.onHealth(devices);
      }
    } catch (error) {
      reach(errorCode(error) !== 'unavailable' || (await isServed(socket)));
      watch.logger.debug({ socket, error: errorMessage(error) }, 'a DRA driver does not tell how its devices are');
    } finally {
      clearTimeout(stands);
    }
    if (hasTold && !signal.aborted) watch.onHealth(undefined);
    await sleep(watch.retryMs ?? DRA_WATCH_RETRY_MS, signal).catch(() => undefined);
  }
  service.close();
}

/** A driver may answer that it is unavailable: only its socket tells whether it is there. */
function isServed(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
