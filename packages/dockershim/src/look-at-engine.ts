import type { CgroupDriver } from '@podwright/base';
import { connectEngine } from './engine/engine.ts';
import { isCriLogDriver } from './engine/log-driver.ts';
import { cgroupDriverOf } from './runtime/cgroup-driver.ts';

/** What a Docker Engine is like, for people. */
export type EngineDescription = { version: string; cgroupDriver: string; logDriver: string; hasLogFiles: boolean };

/** Asks the Engine on a socket. Errors: `unavailable` (nothing answers), `failed_precondition` (pods cannot run on it, and why); `wanted` is the cgroup driver that it must have. */
export async function lookAtEngine(socket: string, wanted?: CgroupDriver): Promise<EngineDescription> {
  const engine = await connectEngine(socket);
  try {
    const info = await engine.info();
    const { ServerVersion: version, LoggingDriver: logDriver } = info;
    return { version, cgroupDriver: cgroupDriverOf(info, wanted), logDriver, hasLogFiles: isCriLogDriver(logDriver) };
  } finally {
    engine.close();
  }
}
