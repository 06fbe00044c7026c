import type { Limiter, Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { EventRecorder, Pod, PodObjects } from '@podwright/kube-api';
import type { PreparedContainer, PrepareRequest } from '../container/prepared-container.ts';
import type { UserNamespaces } from '../container/user-namespaces.ts';
import type { ImageManager } from '../images/image-manager.ts';
import type { PodTracer } from '../trace/pod-tracer.ts';
import type { ActuatedResources } from './actuated-resources.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';
import type { CrashBackoff } from './crash-backoff.ts';
import type { DnsSettings } from './dns-config.ts';
import type { HookRunner } from './lifecycle-hooks.ts';
import type { RuntimeFeatures } from './runtime-features.ts';
import type { SandboxNetworks } from './sandbox-networks.ts';
import type { SandboxTurns } from './sandbox-turns.ts';

/** What the steps of a sync need from the rest of the kubelet, each a part of it that its own type picks. */
export type KuberuntimeDependencies = {
  cri: CriClient;
  networks: SandboxNetworks;
  images: Pick<ImageManager, 'ensureImage' | 'forgetPod'>;
  events: EventRecorder;
  hooks: HookRunner;
  objects: PodObjects;
  tracer: PodTracer;
  logger: Logger;
  crashBackoff: CrashBackoff;
  /** Lets few containers be restarted at once: the runtime's time is for pods that are new. */
  restarts: Limiter;
  sandboxes: SandboxTurns;
  actuated: ActuatedResources;
  /** Environment, command and mounts of a container. Rejects with why it cannot be configured. */
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedContainer>;
  /** Host DNS and cluster DNS, as they are now. */
  dns(): Promise<DnsSettings>;
  /** The pod's cgroup for the runtime, '' to leave it the choice. */
  cgroupParent(pod: Pod): string;
  /** Addresses of the node, primary first: those of the pods in its network. */
  hostIps(): string[];
  podLogsDir: string;
  /** Marks what this kubelet made in the runtime. */
  kubeletId: string;
  clusterDomain: string;
  /** What the runtime says that it can do. */
  features: RuntimeFeatures;
  userNamespaces: UserNamespaces;
  node: ContainerEnforcement;
  seccompDefault: boolean;
  netRawDefault: boolean;
  seccompRoot: string;
};
