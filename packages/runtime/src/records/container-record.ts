import type { ImageConfig } from '@podwright/images';
import type { IdMappings } from '@podwright/system';
import type { SelinuxOptions } from '../oci/selinux.ts';

/** Whose PID namespace a container has: the pod's, its own, the host's, or another container's. */
export type ContainerPidMode =
  | { mode: 'pod' }
  | { mode: 'container' }
  | { mode: 'node' }
  | { mode: 'target'; containerId: string };

/** A mount as it was asked for: of a path of the host, or of an image's content (read-only). */
export type ContainerMount = {
  containerPath: string;
  hostPath: string;
  /** Reference or id of an image to mount; `hostPath` is '' then. */
  image: string;
  imageSubPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: 'private' | 'host-to-container' | 'bidirectional';
  selinuxRelabel: boolean;
  /** Shows the files of a path as those of the users of the pod's user namespace; the same as its mappings. */
  mappings?: IdMappings;
};

export type ContainerDevice = { containerPath: string; hostPath: string; permissions: string };

/** Where a seccomp or AppArmor profile comes from; `localhost` names a file or a loaded profile. */
export type SecurityProfile = { type: 'runtime-default' } | { type: 'unconfined' } | { type: 'localhost'; ref: string };

/** Limits in the OCI's and the CRI's units; 0 and '' mean not set. */
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
  /** As the sandbox's; absent: the host's. */
  userNamespace?: IdMappings;
  /** Absent: the image's user. */
  runAsUser?: number;
  runAsUsername: string;
  runAsGroup?: number;
  supplementalGroups: number[];
  /** `strict`: only the groups asked for; `merge`: those that the image gives the user, too. */
  supplementalGroupsPolicy: 'merge' | 'strict';
  readonlyRootfs: boolean;
  noNewPrivileges: boolean;
  maskedPaths: string[];
  readonlyPaths: string[];
  seccomp: SecurityProfile;
  apparmor?: SecurityProfile;
  /** Absent: as its sandbox's. */
  selinux?: SelinuxOptions;
};

/** What a container was asked to be. Only `resources` and `annotations` change later. */
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
  /** Names of CDI devices (`vendor/class=name`), each once. */
  cdiDevices?: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Below the sandbox's log directory; '' for none. */
  logPath: string;
  stdin: boolean;
  stdinOnce: boolean;
  tty: boolean;
  /** Name of a signal, '' for the image's or SIGTERM. */
  stopSignal: string;
  resources: ContainerResources;
  security: ContainerSecurity;
};

/** The end of a container, as containerd names it: Completed, Error, OOMKilled, StartError, Unknown. */
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
 * `creating`, `starting` and `removing` are written before what they name begins; a start after that undoes or finishes it.
 */
export type ContainerState =
  | { phase: 'creating' }
  | { phase: 'created' }
  | { phase: 'starting' }
  | { phase: 'running'; pid: number; startedAtMs: number }
  | ({ phase: 'exited' } & ContainerEnd)
  | { phase: 'removing'; end?: ContainerEnd };

/** Phases of a container that is not there for clients: what was never finished, and what is being removed. */
export const HIDDEN_PHASES: readonly ContainerState['phase'][] = ['creating', 'removing'];

export type ContainerRecord = {
  id: string;
  /** Unique: sandbox id, container name and attempt. */
  name: string;
  sandboxId: string;
  config: ContainerConfig;
  /** The image that `config.image` led to. */
  image: { id: string; repoDigest: string; config: ImageConfig['config'] };
  /** The user of its first process, as found in the image. */
  user: { uid: number; gid: number; additionalGids: number[] };
  /** Log file, '' for none. */
  logPath: string;
  /** Signal that asks it to end. */
  stopSignal: string;
  state: ContainerState;
  createdAtMs: number;
};

/** The name that two CreateContainer calls for the same attempt share. */
export function containerName(sandboxId: string, config: Pick<ContainerConfig, 'name' | 'attempt'>): string {
  return `${sandboxId}_${config.name}_${config.attempt}`;
}
