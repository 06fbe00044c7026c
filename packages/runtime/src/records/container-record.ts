import type { ImageConfig } from '@podwright/images';
import type { IdMappings } from '@podwright/system';
import type { SelinuxOptions } from '../oci/selinux.ts';

/** The PID namespace of a container: the pod's, its own, the host's, or another container's. */
export type ContainerPidMode =
  | { mode: 'pod' }
  | { mode: 'container' }
  | { mode: 'node' }
  | { mode: 'target'; containerId: string };

/** A requested mount: of a host path, or of an image (read-only). */
export type ContainerMount = {
  containerPath: string;
  hostPath: string;
  /** Reference or id of an image to mount, in which case `hostPath` is ''. '' for a mount of `hostPath`. */
  image: string;
  imageSubPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: 'private' | 'host-to-container' | 'bidirectional';
  selinuxRelabel: boolean;
  /** The mappings of an ID-mapped mount, which are the same as the mappings of the pod's user namespace. */
  mappings?: IdMappings;
};

export type ContainerDevice = { containerPath: string; hostPath: string; permissions: string };

/** A seccomp or AppArmor profile. `localhost` names a file for seccomp, or a loaded profile for AppArmor. */
export type SecurityProfile = { type: 'runtime-default' } | { type: 'unconfined' } | { type: 'localhost'; ref: string };

/** Limits in the units of OCI and CRI. 0 and '' mean unset. */
export type ContainerResources = {
  cpuPeriod: number;
  cpuQuota: number;
  cpuShares: number;
  memoryLimitBytes: number;
  memorySwapLimitBytes: number;
  oomScoreAdj: number;
  cpusetCpus: string;
  cpusetMems: string;
  hugepageLimits: { pageSize: string; limitBytes: number }[];
  unified: Record<string, string>;
};

export type ContainerSecurity = {
  privileged: boolean;
  addCapabilities: string[];
  dropCapabilities: string[];
  addAmbientCapabilities: string[];
  pid: ContainerPidMode;
  /** The same as the sandbox's. Absent: the host's user namespace. */
  userNamespace?: IdMappings;
  /** Absent: the image's user. */
  runAsUser?: number;
  runAsUsername: string;
  runAsGroup?: number;
  supplementalGroups: number[];
  /** `strict`: only the requested groups; `merge`: also the user's groups in the image's /etc/group. */
  supplementalGroupsPolicy: 'merge' | 'strict';
  readonlyRootfs: boolean;
  noNewPrivileges: boolean;
  maskedPaths: string[];
  readonlyPaths: string[];
  seccomp: SecurityProfile;
  apparmor?: SecurityProfile;
  /** Absent: the sandbox's. */
  selinux?: SelinuxOptions;
};

/** The requested configuration of a container. After the container's creation only `resources` and `annotations` change. */
export type ContainerConfig = {
  name: string;
  attempt: number;
  image: { reference: string; annotations: Record<string, string>; userSpecified: string; runtimeHandler: string };
  command: string[];
  args: string[];
  workingDir: string;
  envs: { name: string; value: string }[];
  mounts: ContainerMount[];
  devices: ContainerDevice[];
  /** Names of CDI devices (`vendor/class=name`) without duplicates. */
  cdiDevices?: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Relative to the sandbox's log directory; '' for no log. */
  logPath: string;
  stdin: boolean;
  stdinOnce: boolean;
  tty: boolean;
  /** Name of a signal. '' means the image's stop signal, or else SIGTERM. */
  stopSignal: string;
  resources: ContainerResources;
  security: ContainerSecurity;
};

/** How a container ended. `reason` is one of containerd's: Completed, Error, OOMKilled, StartError, Unknown. */
export type ContainerEnd = {
  /** 0 if it never started. */
  startedAtMs: number;
  finishedAtMs: number;
  exitCode: number;
  reason: string;
  message: string;
};

/**
 * ```
 * creating ──► created ──► starting ──► running ──► exited ──► removing ──► (no record)
 *                 │            └── failed ────────────┘            ▲
 *                 └────────────────────────────────────────────────┘
 * ```
 * `creating`, `starting` and `removing` are recorded before the operation begins. If the runtime is killed during it, the next start
 * of the runtime undoes or finishes it.
 */
export type ContainerState =
  | { phase: 'creating' }
  | { phase: 'created' }
  | { phase: 'starting' }
  | { phase: 'running'; pid: number; startedAtMs: number }
  | ({ phase: 'exited' } & ContainerEnd)
  | { phase: 'removing'; end?: ContainerEnd };

/** Phases in which clients do not see a container, because its creation is not finished or it is being removed. */
export const HIDDEN_PHASES: readonly ContainerState['phase'][] = ['creating', 'removing'];

export type ContainerRecord = {
  id: string;
  /** Unique: made from sandbox id, container name and attempt. */
  name: string;
  sandboxId: string;
  config: ContainerConfig;
  /** The image that `config.image` resolved to. */
  image: { id: string; repoDigest: string; config: ImageConfig['config'] };
  /** The user of the init process, looked up in the image. */
  user: { uid: number; gid: number; additionalGids: number[] };
  /** Path of the log file, '' for none. */
  logPath: string;
  /** The signal with which a stop begins. */
  stopSignal: string;
  state: ContainerState;
  createdAtMs: number;
};

/** The unique name of a container. CreateContainer calls for the same attempt have the same name. */
export function containerName(sandboxId: string, config: Pick<ContainerConfig, 'name' | 'attempt'>): string {
  return `${sandboxId}_${config.name}_${config.attempt}`;
}
