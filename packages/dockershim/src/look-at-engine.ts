import { isDeadlineExceeded, withTimeout, wrapError } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import { connectEngine } from './engine/engine.ts';
import { isCriLogDriver } from './engine/log-driver.ts';
import { LOOK_TIMEOUT_MS } from './limits.ts';
import { cgroupDriverOf } from './runtime/cgroup-driver.ts';

/** A user-facing description of a Docker Engine. */
export type EngineDescription = { version: string; cgroupDriver: string; logDriver: string; hasLogFiles: boolean };

/**
 * Describes the Engine on a socket. `wanted` is the required cgroup driver. Throws `unavailable` if nothing is listening there,
 * `deadline_exceeded` if the Engine accepts calls but does not respond, and `failed_precondition` with the reason if it cannot run pods.
 */
export async function lookAtEngine(
  socket: string,
  {
    wanted,
    signal,
    timeoutMs = LOOK_TIMEOUT_MS,
  }: { wanted?: CgroupDriver; signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<EngineDescription> {
  using bound = withTimeout(signal, timeoutMs, 'ask the Docker Engine about itself');
  try {
    return await description(socket, { wanted, signal: bound });
  } catch (error) {
    if (signal?.aborted || !isDeadlineExceeded(error)) throw error;
    throw wrapError(`the Docker Engine on ${socket} accepts calls and does not answer`, error);
  }
}

async function description(
  socket: string,
  { wanted, signal }: { wanted: CgroupDriver | undefined; signal: AbortSignal },
): Promise<EngineDescription> {
  const engine = await connectEngine(socket, signal);
  try {
    const info = await engine.info(signal);
    const { ServerVersion: version, LoggingDriver: logDriver } = info;
    return { version, cgroupDriver: cgroupDriverOf(info, wanted), logDriver, hasLogFiles: isCriLogDriver(logDriver) };
  } finally {
    engine.close();
  }
}
