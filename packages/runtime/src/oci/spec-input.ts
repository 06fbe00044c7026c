import type { CgroupMode } from '@podwright/base';
import type { IdMappings } from '@podwright/system';
import type { OciDevice, OciProcess, OciSeccomp } from './spec.ts';

/** A bind mount into the container. Its source is there. */
export type SpecMount = {
  destination: string;
  source: string;
  readonly: boolean;
  /** Also what is mounted below the source is read-only; only together with `readonly`. */
  recursiveReadOnly: boolean;
  propagation: 'private' | 'host-to-container' | 'bidirectional';
  /** Which of `ro`, `nosuid`, `nodev` and `noexec` the source's own mount has. */
  sourceRestrictions: string[];
};

/** `new` is a namespace of the container's own, `host` the host's, otherwise the path of one that is there. */
export type SpecNamespace = { kind: 'new' } | { kind: 'host' } | { kind: 'path'; path: string };

export type SpecNamespaces = {
  network: SpecNamespace;
  ipc: SpecNamespace;
  uts: SpecNamespace;
  pid: SpecNamespace;
  /** Absent: the host's users. */
  user?: { path: string; mappings: IdMappings };
};

export type SpecSecurity = {
  privileged: boolean;
  addCapabilities: string[];
  dropCapabilities: string[];
  addAmbientCapabilities: string[];
  noNewPrivileges: boolean;
  maskedPaths: string[];
  readonlyPaths: string[];
  /** `runtime-default` depends on the capabilities; `undefined` is unconfined. Never applied to a privileged container. */
  seccomp: 'runtime-default' | OciSeccomp | undefined;
  /** Name of a loaded AppArmor profile, '' for none. Never applied to a privileged container unless it is given. */
  apparmorProfile: string;
  /** Labels of the process and of the files that are made for it, '' for none. */
  selinuxProcessLabel: string;
  selinuxMountLabel: string;
};

/** Limits; 0, '' and absent mean not set. */
export type SpecResources = {
  cpuShares: number;
  /** Microseconds of CPU time a period; -1 is unlimited. */
  cpuQuota: number;
  cpuPeriod: number;
  cpusetCpus: string;
  cpusetMems: string;
  memoryLimitBytes: number;
  /** Memory and swap together; 0 means as much as the memory limit, so no swap. -1 is unlimited. */
  memorySwapLimitBytes: number;
  pidsLimit: number;
  hugepageLimits: { pageSize: string; limitBytes: number }[];
  /** Files of cgroup v2 with their content; refused where there is only v1. */
  unified: Record<string, string>;
  oomScoreAdj: number;
};

/** A device node that the container gets, with what it may do with it (`rwm`), and where the host has it. */
export type SpecDevice = OciDevice & { access: string; hostPath: string };

/** What the host can do, as far as a specification depends on it. */
export type SpecHost = {
  /** This process's bounding set. */
  capabilities: string[];
  cgroupMode: CgroupMode;
  /** Options of the v2 tree that belong to all its mounts: one without them would take them from the host's. */
  cgroupMountOptions: string[];
  /** Memory and swap can be limited together. */
  swapLimit: boolean;
  hugetlb: boolean;
  /** This process's hard limit of open files: without CAP_SYS_RESOURCE it can give no higher one. */
  openFiles: number;
  /** The lowest oom_score_adj that this process may set. */
  minimumOomScoreAdj: number;
  architecture: NodeJS.Architecture;
};

/** Everything that a container's specification is made from. */
export type SpecInput = {
  args: string[];
  env: string[];
  cwd: string;
  user: OciProcess['user'];
  terminal: boolean;
  rlimits: NonNullable<OciProcess['rlimits']>;
  rootfs: { path: string; readonly: boolean };
  /** Set in the UTS namespace only if that is `new`. */
  hostname: string;
  mounts: SpecMount[];
  security: SpecSecurity;
  namespaces: SpecNamespaces;
  devices: SpecDevice[];
  /** Device nodes of the host, which a privileged container gets all. */
  hostDevices: OciDevice[];
  resources: SpecResources;
  sysctls?: Record<string, string>;
  cgroupsPath: string;
  annotations: Record<string, string>;
  host: SpecHost;
};
