import type { ImageConfig } from '@podwright/images';
import type { SelinuxOptions } from '@podwright/oci';
import type { IdMappings } from '@podwright/system';

/** A container's PID namespace: the pod's, its own, the host's, or another container's. */
export type ContainerPidMode =
  | { mode: 'pod' }
  | { mode: 'container' }
  | { mode: 'node' }
  | { mode: 'target'; containerId: string };

/** A requested mount of a host path or of an image (read-only). */
export type ContainerMount = {
  containerPath: string;
  hostPath: string;
  /** Reference or ID of the image to be mounted, in which case `hostPath` is ''; '' if `hostPath` is to be mounted. */
  image: string;
  imageSubPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: 'private' | 'host-to-container' | 'bidirectional';
  selinuxRelabel: boolean;
  /** The mappings of an ID-mapped mount, identical to those of the pod's user namespace. */
  mappings?: IdMappings;
};

export type ContainerDevice = { containerPath: string; hostPath: string; permissions: string };

/** A seccomp or AppArmor profile. For `localhost`, `ref` is a file (seccomp) or a loaded profile (AppArmor). */
export type SecurityProfile = { type: 'runtime-default' } | { type: 'unconfined' } | { type: 'localhost'; ref: string };

/** Resource limits in the units used by OCI and the CRI. 0 and '' mean unset. */
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
  /** The sandbox's ID mappings; absent for the host's user namespace. */
  userNamespace?: IdMappings;
  /** UID of the process; absent for the image's user. */
  runAsUser?: number;
  runAsUsername: string;
  runAsGroup?: number;
  supplementalGroups: number[];
  /** `strict`: only the requested groups. `merge`: also the user's groups from the image's /etc/group. */
  supplementalGroupsPolicy: 'merge' | 'strict';
  readonlyRootfs: boolean;
  noNewPrivileges: boolean;
  maskedPaths: string[];
  readonlyPaths: string[];
  seccomp: SecurityProfile;
  apparmor?: SecurityProfile;
  /** SELinux options; absent for the sandbox's. */
  selinux?: SelinuxOptions;
};

/** The requested configuration of a container. After creation, only `resources` and `annotations` can change. */
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
  /** CDI device names (`vendor/class=name`), deduplicated. */
  cdiDevices?: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Path of the log file, relative to the sandbox's log directory; '' if there is no log. */
  logPath: string;
  stdin: boolean;
  stdinOnce: boolean;
  tty: boolean;
  /** Signal name. '' means the image's stop signal or, if it has none, SIGTERM. */
  stopSignal: string;
  resources: ContainerResources;
  security: ContainerSecurity;
};

/** How a container exited. `reason` is one of containerd's reasons: Completed, Error, OOMKilled, StartError, Unknown. */
export type ContainerEnd = {
  /** When the container started; 0 if it never did. */
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
 * `creating`, `starting` and `removing` are recorded before the operation begins. If the container runtime is killed during the operation,
 * it is undone or completed at the next start.
 */
export type ContainerState =
  | { phase: 'creating' }
  | { phase: 'created' }
  | { phase: 'starting' }
  | { phase: 'running'; pid: number; startedAtMs: number }
  | ({ phase: 'exited' } & ContainerEnd)
  | { phase: 'removing'; end?: ContainerEnd };

/** Phases in which a container is hidden from clients: it is not completely created yet, or is being removed. */
export const HIDDEN_PHASES: readonly ContainerState['phase'][] = ['creating', 'removing'];

export type ContainerRecord = {
  id: string;
  /** Unique name: the sandbox ID, the container name and the attempt. */
  name: string;
  sandboxId: string;
  config: ContainerConfig;
  /** The image that `config.image` was resolved to. */
  image: { id: string; repoDigest: string; config: ImageConfig['config'] };
  /** The init process's user, as looked up in the image. */
  user: { uid: number; gid: number; additionalGids: number[] };
  /** Path of the log file; '' if there is none. */
  logPath: string;
  /** The signal that is sent first to stop the container. */
  stopSignal: string;
  /** The OCI spec's `cgroupsPath`, if an NRI plugin has changed it. */
  cgroupsPath?: string;
  state: ContainerState;
  createdAtMs: number;
};

/** Returns a container's unique name, which is the same for all CreateContainer calls for an attempt. */
export function containerName(sandboxId: string, config: Pick<ContainerConfig, 'name' | 'attempt'>): string {
  return `${sandboxId}_${config.name}_${config.attempt}`;
}
