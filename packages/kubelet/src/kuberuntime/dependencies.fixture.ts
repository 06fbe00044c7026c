import { join } from 'node:path';
import { Limiter, silentLogger } from '@podwright/base';
import { noSpanExporter } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { LocalObjects, PodEvents } from '@podwright/kube-api';
import { DEFAULT_RESOURCE_POLICY, type ResourcePolicy } from '@podwright/kubelet-configuration';
import { PodDirectories } from '@podwright/volumes';
import { UserNamespaces } from '../container/user-namespaces.ts';
import { ImageAccess } from '../images/image-access.ts';
import { ImageManager } from '../images/image-manager.ts';
import type { ContainerHost } from '../node/container-host.ts';
import { PodTracer } from '../trace/pod-tracer.ts';
import { ActuatedResources } from './actuated-resources.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';
import { CrashBackoff } from './crash-backoff.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { RuntimeFeatures } from './runtime-features.ts';
import { SandboxNetworks } from './sandbox-networks.ts';
import { SandboxTurns } from './sandbox-turns.ts';

/** Dependencies of pod syncs on an in-memory container runtime. */
export type FakeDependencies = KuberuntimeDependencies & { events: PodEvents };

export function fakeDependencies(runtime: FakeRuntime, podLogsDir: string): FakeDependencies {
  const cri = runtime.client;
  const logger = silentLogger;
  const events = new PodEvents('node');
  const objects = new LocalObjects();
  const queue = { maxParallel: 0, qps: 0, burst: 0 };
  const backoff = { initialMs: 1000, maxMs: 1000 };
  const directory = join(podLogsDir, 'image_manager');
  const access = new ImageAccess({ cri, directory, policy: { kind: 'NeverVerify' }, logger });
  return {
    cri,
    events,
    logger,
    objects,
    podLogsDir,
    networks: new SandboxNetworks(cri),
    images: new ImageManager({ cri, events, objects, logger, queue, backoff, dockerConfigPaths: [], access }),
    hooks: { run: async () => undefined },
    tracer: new PodTracer(noSpanExporter),
    crashBackoff: new CrashBackoff({ initialMs: 1000, maxMs: 4000 }),
    restarts: new Limiter(1, 200),
    sandboxes: new SandboxTurns(1),
    actuated: new ActuatedResources(),
    prepare: async () => ({ environment: [], command: [], args: [], mounts: [] }),
    dns: async () => ({
      clusterDns: [],
      clusterDomain: '',
      warnOfMissingClusterDns: false,
      host: { servers: [], searches: [], options: [] },
    }),
    features: new RuntimeFeatures(cri),
    userNamespaces: new UserNamespaces({
      directories: new PodDirectories(podLogsDir),
      idsPerPod: 65_536,
      maxPods: 110,
      available: async () => ({ firstId: 65_536, length: 65_536 * 200 }),
    }),
    cgroupParent: () => '',
    hostIps: () => ['192.0.2.1'],
    kubeletId: 'k',
    clusterDomain: '',
    node: fakeNode(),
    seccompDefault: false,
    netRawDefault: true,
    seccompRoot: '/none',
  };
}

export function fakeRuntime(): FakeRuntime {
  return new FakeRuntime({ images: ['busybox:1'] });
}

/** Returns a node: a cgroup v1 host with 1 GiB of memory, and upstream's default resource policy. */
export function fakeNode(
  host: Partial<ContainerHost> = {},
  policy: Partial<ResourcePolicy> = {},
): ContainerEnforcement {
  return {
    policy: { ...DEFAULT_RESOURCE_POLICY, ...policy },
    host: {
      memoryCapacity: 1n << 30n,
      allocatableMemory: 1n << 30n,
      swapCapacity: 0n,
      cgroupV2: false,
      countsSwap: false,
      hugePageSizes: [],
      selinux: false,
      appArmor: false,
      throttleDirectories: [],
      ...host,
    },
  };
}
