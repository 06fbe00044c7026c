import { silentLogger } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import { LocalObjects } from '../config/local-objects.ts';
import { PodEvents } from '../events/pod-events.ts';
import { ImageManager } from '../images/image-manager.ts';
import { PodTracer } from '../trace/pod-tracer.ts';
import { ActuatedResources } from './actuated-resources.ts';
import { CrashBackoff } from './crash-backoff.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { SandboxNetworks } from './sandbox-networks.ts';

/** What a sync takes, on a runtime in memory. */
export type FakeDependencies = KuberuntimeDependencies & { events: PodEvents };

export function fakeDependencies(runtime: FakeRuntime, podLogsDir: string): FakeDependencies {
  const cri = runtime.client;
  const logger = silentLogger;
  const events = new PodEvents('node');
  const objects = new LocalObjects();
  const queue = { maxParallel: 0, qps: 0, burst: 0 };
  const backoff = { initialMs: 1000, maxMs: 1000 };
  return {
    cri,
    events,
    logger,
    objects,
    podLogsDir,
    networks: new SandboxNetworks(cri),
    images: new ImageManager({ cri, events, objects, logger, queue, backoff, dockerConfigPaths: [] }),
    hooks: { run: async () => undefined },
    tracer: new PodTracer(),
    crashBackoff: new CrashBackoff({ initialMs: 1000, maxMs: 4000 }),
    actuated: new ActuatedResources(),
    prepare: async () => ({ environment: [], command: [], args: [], mounts: [] }),
    dns: async () => ({ clusterDns: [], clusterDomain: '', host: { servers: [], searches: [], options: [] } }),
    cgroupParent: () => '',
    hostIps: () => ['192.0.2.1'],
    kubeletId: 'k',
    clusterDomain: '',
    node: { memoryCapacity: 1n << 30n, cgroupV2: false },
    seccompDefault: false,
    seccompRoot: '/none',
  };
}

export function fakeRuntime(): FakeRuntime {
  return new FakeRuntime({ images: ['busybox:1'] });
}
