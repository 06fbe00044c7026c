import type { IdMappings } from '@podwright/system';
import type { PortMapping } from '../network/network.ts';
import type { SelinuxOptions } from '../oci/selinux.ts';
import type { ContainerResources } from './container-record.ts';

/** Whose namespace a pod uses: its own, or the host's. */
export type SandboxNamespaceMode = 'pod' | 'node';

/** `pod` is one PID namespace for all containers of the pod, `container` one for each. */
export type PidNamespaceMode = 'pod' | 'container' | 'node';

/** What a sandbox was asked to be. Nothing in here changes after RunPodSandbox. */
export type SandboxConfig = {
  podName: string;
  podUid: string;
  podNamespace: string;
  attempt: number;
  hostname: string;
  /** Absolute, or '' for containers without logs. */
  logDirectory: string;
  /** Absent: the host's resolv.conf. */
  dns?: { servers: string[]; searches: string[]; options: string[] };
  portMappings: PortMapping[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** '' for the runtime's own. */
  cgroupParent: string;
  network: SandboxNamespaceMode;
  ipc: SandboxNamespaceMode;
  pid: PidNamespaceMode;
  /** The pod's own user namespace; absent: the host's. */
  userNamespace?: IdMappings;
  sysctls: Record<string, string>;
  /** Parts of the SELinux labels of containers that name none themselves. */
  selinux?: SelinuxOptions;
  /** Its containers may be privileged. */
  privileged: boolean;
  /** Picks the sandbox controller and the OCI runtime; '' for the default. */
  runtimeHandler: string;
};

/**
 * ```
 * creating ──► ready ──► stopping ──► stopped ──► removing ──► (no record)
 *     └──► broken ──────────┘
 * ```
 * `creating` is written before anything is acquired, `stopping` and `removing` before anything is given back: each is
 * enough for a later start to finish the work. Everything acquired is found by the sandbox's id. `broken` is a sandbox that
 * failed and could not be rolled back as a whole: clients see it as not ready and can remove it.
 */
export type SandboxState =
  | { phase: 'creating' }
  | { phase: 'ready' }
  | { phase: 'broken' }
  | { phase: 'stopping' }
  | { phase: 'stopped' }
  | { phase: 'removing' };

/**
 * What a pod may take, in the form of a container's limits: the sandbox itself, and its containers together. The
 * client that asks for the pod's cgroup (the kubelet) has set that by itself.
 */
export type SandboxResources = { overhead: ContainerResources; containers: ContainerResources };

export type SandboxRecord = {
  id: string;
  /** Unique: pod name, namespace, UID and attempt. */
  name: string;
  config: SandboxConfig;
  /** Name of the sandbox controller that makes and ends it; absent in records of earlier versions. */
  controller?: string;
  state: SandboxState;
  createdAtMs: number;
  /** Addresses, the primary one first; none in the host's network. */
  ips: string[];
  /** As UpdatePodSandboxResources told them last; absent before. */
  resources?: SandboxResources;
};

/** The name that two RunPodSandbox calls for the same attempt of the same pod share. */
export function sandboxName(config: Pick<SandboxConfig, 'podName' | 'podNamespace' | 'podUid' | 'attempt'>): string {
  return [config.podName, config.podNamespace, config.podUid, config.attempt].join('_');
}

export const isReady = (record: SandboxRecord): boolean => record.state.phase === 'ready';
