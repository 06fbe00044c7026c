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

/** The sync steps' dependencies on the rest of the kubelet. Each step has its own type with the subset it uses. */
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
  /** Limits concurrent restarts of crashed containers, so that they do not delay new pods. */
  restarts: Limiter;
  sandboxes: SandboxTurns;
  actuated: ActuatedResources;
  /** Resolves a container's environment, command and mounts. Rejects if the container cannot be configured. */
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedContainer>;
  /** The current DNS settings of the host and the cluster. */
  dns(): Promise<DnsSettings>;
  /** Returns the pod's cgroup parent; '' if the container runtime picks one. */
  cgroupParent(pod: Pod): string;
  /** The node's addresses, primary first. Pods on the host network have the same ones. */
  hostIps(): string[];
  podLogsDir: string;
  /** The label value that identifies this kubelet's sandboxes and containers in the container runtime. */
  kubeletId: string;
  clusterDomain: string;
  features: RuntimeFeatures;
  userNamespaces: UserNamespaces;
  node: ContainerEnforcement;
  seccompDefault: boolean;
  netRawDefault: boolean;
  seccompRoot: string;
};
