import { startRuntime } from '@podwright/runtime';
import type { NodeConfig } from '../config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { runtimeOptions } from './runtime-options.ts';

/** `podwright runtime`: serves the CRI until it is told to stop. Containers go on without it. */
export async function runRuntime(config: NodeConfig): Promise<void> {
  const { stopped } = beginDaemon(config);
  const runtime = await startRuntime(runtimeOptions(config));
  await stopped;
  await runtime.close();
}
