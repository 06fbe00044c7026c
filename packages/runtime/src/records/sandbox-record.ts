import type { SelinuxOptions } from '@podwright/oci';
import type { IdMappings } from '@podwright/system';
import type { PortMapping } from '../network/network.ts';
import type { ContainerResources } from './container-record.ts';

/** A pod's namespace: its own (`pod`) or the host's (`node`). */
export type SandboxNamespaceMode = 'pod' | 'node';

/** `pod`: a PID namespace shared by all containers in the pod. `container`: one per container. `node`: the host's. */
export type PidNamespaceMode = 'pod' | 'container' | 'node';

/** The requested configuration of a sandbox. Immutable after RunPodSandbox. */
export type SandboxConfig = {
  podName: string;
  podUid: string;
  podNamespace: string;
  attempt: number;
  hostname: string;
  /** Absolute path of the log directory; '' if containers have no logs. */
  logDirectory: string;
  /** DNS configuration; absent for the host's resolv.conf. */
  dns?: { servers: string[]; searches: string[]; options: string[] };
  portMappings: PortMapping[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Parent cgroup of the pod's containers; '' for the container runtime's default. */
  cgroupParent: string;
  network: SandboxNamespaceMode;
  ipc: SandboxNamespaceMode;
  pid: PidNamespaceMode;
  /** ID mappings of the pod's user namespace; absent for the host's user namespace. */
  userNamespace?: IdMappings;
  sysctls: Record<string, string>;
  /** SELinux options for containers that do not request their own. */
  selinux?: SelinuxOptions;
  /** Whether containers in the pod may be privileged. */
  privileged: boolean;
  /** The pod's resources, if the client passed any. Updates by UpdatePodSandboxResources are stored in `SandboxRecord.resources`. */
  resources?: SandboxResources;
  /** Name of the runtime handler, which determines the sandbox controller and the OCI runtime; '' for the default handler. */
  runtimeHandler: string;
};

/**
 * ```
 * creating ──► ready ──► stopping ──► stopped ──► removing ──► (no record)
 *     └──► broken ──────────┘
 * ```
 * `creating` is recorded before any resource is acquired, `stopping` and `removing` before any is released, so that an interrupted
 * operation can be completed when the container runtime starts again. All resources are found by sandbox ID. `broken` is a sandbox whose
 * creation failed and could not be rolled back completely: clients see it as not ready and can remove it.
 */
export type SandboxState =
  | { phase: 'creating' }
  | { phase: 'ready' }
  | { phase: 'broken' }
  | { phase: 'stopping' }
  | { phase: 'stopped' }
  | { phase: 'removing' };

/**
 * A pod's resources: those of the sandbox itself (overhead), and the total of its containers. They are only recorded; the limits of the
 * pod's cgroup are set by the kubelet.
 */
export type SandboxResources = { overhead: ContainerResources; containers: ContainerResources };

export type SandboxRecord = {
  id: string;
  /** Unique name: the pod's name, namespace, UID and attempt. */
  name: string;
  config: SandboxConfig;
  /** Name of the sandbox controller that created the sandbox. Absent from records of earlier versions. */
  controller?: string;
  state: SandboxState;
  createdAtMs: number;
  /** IP addresses, primary address first; empty for host networking. */
  ips: string[];
  /** Resources from the last UpdatePodSandboxResources call; absent if there was none. */
  resources?: SandboxResources;
};

/** Returns a sandbox's unique name, which is the same for all RunPodSandbox calls for an attempt of a pod. */
export function sandboxName(config: Pick<SandboxConfig, 'podName' | 'podNamespace' | 'podUid' | 'attempt'>): string {
  return [config.podName, config.podNamespace, config.podUid, config.attempt].join('_');
}

export const isReady = (record: SandboxRecord): boolean => record.state.phase === 'ready';
