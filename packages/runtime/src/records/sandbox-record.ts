import type { IdMappings } from '@podwright/system';
import type { PortMapping } from '../network/network.ts';
import type { SelinuxOptions } from '../oci/selinux.ts';
import type { ContainerResources } from './container-record.ts';

/** The namespace of a pod: its own (`pod`), or the host's (`node`). */
export type SandboxNamespaceMode = 'pod' | 'node';

/** `pod`: one PID namespace for all containers of the pod. `container`: one for each container. `node`: the host's. */
export type PidNamespaceMode = 'pod' | 'container' | 'node';

/** The requested configuration of a sandbox. Never changes after RunPodSandbox. */
export type SandboxConfig = {
  podName: string;
  podUid: string;
  podNamespace: string;
  attempt: number;
  hostname: string;
  /** Absolute path, or '' if containers have no logs. */
  logDirectory: string;
  /** Absent: the host's resolv.conf. */
  dns?: { servers: string[]; searches: string[]; options: string[] };
  portMappings: PortMapping[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** '' means the runtime's own cgroup parent. */
  cgroupParent: string;
  network: SandboxNamespaceMode;
  ipc: SandboxNamespaceMode;
  pid: PidNamespaceMode;
  /** ID mappings of the pod's user namespace. Absent: the host's user namespace. */
  userNamespace?: IdMappings;
  sysctls: Record<string, string>;
  /** SELinux options for containers that request none themselves. */
  selinux?: SelinuxOptions;
  /** Whether containers of the pod may be privileged. */
  privileged: boolean;
  /** Name of the runtime handler, which determines the sandbox controller and the OCI runtime. '' means the default handler. */
  runtimeHandler: string;
};

/**
 * ```
 * creating ──► ready ──► stopping ──► stopped ──► removing ──► (no record)
 *     └──► broken ──────────┘
 * ```
 * `creating` is recorded before any resource is acquired, `stopping` and `removing` before any is released, so that the next start of
 * the runtime can finish an interrupted operation. All resources are found by the sandbox's id. `broken` is a sandbox whose creation
 * failed and could not be rolled back completely: clients see it as not ready, and can remove it.
 */
export type SandboxState =
  | { phase: 'creating' }
  | { phase: 'ready' }
  | { phase: 'broken' }
  | { phase: 'stopping' }
  | { phase: 'stopped' }
  | { phase: 'removing' };

/**
 * Resources of a pod: of the sandbox itself (overhead), and of all containers together. The runtime only records them, because the kubelet
 * sets the limits of the pod's cgroup.
 */
export type SandboxResources = { overhead: ContainerResources; containers: ContainerResources };

export type SandboxRecord = {
  id: string;
  /** Unique: made from pod name, namespace, UID and attempt. */
  name: string;
  config: SandboxConfig;
  /** Name of the sandbox controller that manages the sandbox. Absent in records of earlier versions. */
  controller?: string;
  state: SandboxState;
  createdAtMs: number;
  /** IP addresses, the primary one first; empty for host networking. */
  ips: string[];
  /** From the last UpdatePodSandboxResources call; absent before the first one. */
  resources?: SandboxResources;
};

/** The unique name of a sandbox. RunPodSandbox calls for the same attempt of the same pod have the same name. */
export function sandboxName(config: Pick<SandboxConfig, 'podName' | 'podNamespace' | 'podUid' | 'attempt'>): string {
  return [config.podName, config.podNamespace, config.podUid, config.attempt].join('_');
}

export const isReady = (record: SandboxRecord): boolean => record.state.phase === 'ready';
