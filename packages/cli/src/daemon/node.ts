import { createLogger } from '@podwright/base';
import { startRuntime } from '@podwright/runtime';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { closeCgroupPlace, openCgroupPlace } from './cgroup-place.ts';
import { serveKubelet } from './kubelet.ts';
import { LONE_NODE_DEFAULTS } from './kubelet-options.ts';
import { openMetrics } from './metrics.ts';
import { runtimeOptions } from './runtime-options.ts';
import { serviceManagerOf } from './service-manager.ts';

/** `podwright node`: the runtime, and a kubelet that reaches it through its socket like any other. */
export async function runNode(config: NodeConfig): Promise<void> {
  const { stopped, request } = beginDaemon(config);
  const manager = serviceManagerOf(process.env, createLogger({ name: 'systemd', level: config.log_level }));
  await using metrics = await openMetrics(config);
  const { registry } = metrics;
  const cgroups = await openCgroupPlace(config);
  const runtime = await startRuntime({ ...runtimeOptions(config), ...cgroups, metrics: registry });
  const place = {
    runtimeEndpoint: runtime.endpoint,
    criApiVersion: 'v1' as const,
    defaults: LONE_NODE_DEFAULTS,
    // Also where systemd has delegated them: kubelets elsewhere are told to use slices, this one shares the place.
    cgroupDriver: 'cgroupfs' as const,
    cgroupRoot: cgroups.cgroupParent,
    metrics: registry,
    serveStream: runtime.serveStream,
  };
  const kubelet = await serveKubelet(config, place, { onStop: request }).catch(async (error: unknown) => {
    await runtime.close(); // or the process would live on without a kubelet
    throw error;
  });
  await manager.ready('running');
  manager.watch(() => kubelet.unhealthyReason());
  const { removeHostState, endPods } = await stopped;
  await manager.stop();
  if (endPods) await kubelet.endPods();
  await kubelet.close();
  await runtime.close({ removeHostState });
  if (removeHostState) await closeCgroupPlace(cgroups);
}
