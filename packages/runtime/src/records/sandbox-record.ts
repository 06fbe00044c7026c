import type { SelinuxOptions } from '@podwright/oci';
import type { IdMappings } from '@podwright/system';
import type { PortMapping } from '../network/network.ts';
import type { ContainerResources } from './container-record.ts';

/** A pod's namespace: its own (`pod`) or the host's (`node`). */
export type SandboxNamespaceMode = 'pod' | 'node';

/** `pod`: one PID namespace shared by all containers in the pod. `container`: one per container. `node`: the host's. */
export type PidNamespaceMode = 'pod' | 'container' | 'node';

/** The requested configuration of a sandbox. Never changes after RunPodSandbox. */
export type SandboxConfig = {
  podName: string;
  podUid: string;
  podNamespace: string;
  attempt: number;
  hostname: string;
  /** Absolute path of the log directory; '' if containers have no logs. */
  logDirectory: string;
  /** DNS configuration. If absent, the host's resolv.conf is used. */
  dns?: { servers: string[]; searches: string[]; options: string[] };
  portMappings: PortMapping[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Parent cgroup of the pod's containers; '' means the container runtime's own cgroup parent. */
  cgroupParent: string;
  network: SandboxNamespaceMode;
  ipc: SandboxNamespaceMode;
  pid: PidNamespaceMode;
  /** ID mappings of the pod's user namespace. If absent, the host's user namespace is used. */
  userNamespace?: IdMappings;
  sysctls: Record<string, string>;
  /** SELinux options for containers that do not request any themselves. */
  selinux?: SelinuxOptions;
  /** Whether containers in the pod may be privileged. */
  privileged: boolean;
  /** The pod's resources, if the client has passed any. Later ones of UpdatePodSandboxResources are in `SandboxRecord.resources`. */
  resources?: SandboxResources;
  /** Name of the runtime handler, which determines the sandbox controller and the OCI runtime. '' means the default handler. */
  runtimeHandler: string;
};

/**
 * ```
 * creating ──► ready ──► stopping ──► stopped ──► removing ──► (no record)
 *     └──► broken ──────────┘
 * ```
 * `creating` is recorded before any resource is acquired, `stopping` and `removing` before any is released, so that the container runtime's
 * next start can complete an interrupted operation. All resources are found by the sandbox ID. `broken` is a sandbox whose creation failed
 * and could not be rolled back completely: clients see it as not ready, and can remove it.
 */
export type SandboxState =
  | { phase: 'creating' }
  | { phase: 'ready' }
  | { phase: 'broken' }
  | { phase: 'stopping' }
  | { phase: 'stopped' }
  | { phase: 'removing' };

/**
 * A pod's resources: those of the sandbox itself (overhead), and those of all containers together. They are only recorded, because the
 * kubelet sets the limits of the pod's cgroup.
 */
export type SandboxResources = { overhead: ContainerResources; containers: ContainerResources };

export type SandboxRecord = {
  id: string;
  /** Unique name, which consists of the pod's name, namespace, UID and attempt. */
  name: string;
  config: SandboxConfig;
  /** Name of the sandbox controller that manages the sandbox. Absent in records from earlier versions. */
  controller?: string;
  state: SandboxState;
  createdAtMs: number;
  /** IP addresses, primary address first; empty for host networking. */
  ips: string[];
  /** Resources from the last UpdatePodSandboxResources call; absent before the first one. */
  resources?: SandboxResources;
};

/** Returns a sandbox's unique name. RunPodSandbox calls for the same attempt of the same pod have the same name. */
export function sandboxName(config: Pick<SandboxConfig, 'podName' | 'podNamespace' | 'podUid' | 'attempt'>): string {
  return [config.podName, config.podNamespace, config.podUid, config.attempt].join('_');
}

export const isReady = (record: SandboxRecord): boolean => record.state.phase === 'ready';
