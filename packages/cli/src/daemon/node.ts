import { startRuntime } from '@podwright/runtime';
import type { NodeConfig } from '../config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { serveKubelet } from './kubelet.ts';
import { runtimeOptions } from './runtime-options.ts';

/** `podwright node`: the runtime, and a kubelet that reaches it through its socket like any other. */
export async function runNode(config: NodeConfig): Promise<void> {
  const { stopped, request } = beginDaemon(config);
  const runtime = await startRuntime(runtimeOptions(config));
  const kubelet = await serveKubelet(config, { runtimeEndpoint: runtime.endpoint, criApiVersion: 'v1' }, request);
  const { removeHostState } = await stopped;
  await kubelet.close();
  await runtime.close({ removeHostState });
}
