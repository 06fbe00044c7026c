import { startRuntime } from '@podwright/runtime';
import { loadSystem } from '@podwright/system';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { openCgroupPlace } from './cgroup-place.ts';
import { openMetrics } from './metrics.ts';
import { runtimeOptions } from './runtime-options.ts';

/** `podwright runtime`: serves the CRI until a signal stops it. Containers keep running afterwards. */
export async function runRuntime(config: NodeConfig): Promise<void> {
  const { stopped, countBuffer } = beginDaemon(config, loadSystem());
  await using metrics = await openMetrics(config);
  const runtime = await startRuntime({
    ...runtimeOptions(config, { isStandalone: false }),
    ...(await openCgroupPlace(config)),
    metrics: metrics.registry,
    countBuffer,
  });
  await stopped;
  await runtime.close();
}
