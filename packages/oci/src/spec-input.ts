import type { CgroupMode } from '@podwright/host';
import type { IdMappings } from '@podwright/system';
import type { OciDevice, OciProcess, OciSeccomp } from './spec.ts';

/** RLIMIT_NOFILE (getrlimit(2)): a process may raise its soft limit up to the hard limit. */
export type OpenFilesLimit = { soft: number; hard: number };

/** A bind mount into the container. Its source is known to exist. */
export type SpecMount = {
  destination: string;
  source: string;
  readonly: boolean;
  /** Whether mounts under the source are also read-only. Requires `readonly`. */
  recursiveReadOnly: boolean;
  propagation: 'private' | 'host-to-container' | 'bidirectional';
  /** Options of the mount containing the source: any of `ro`, `nosuid`, `nodev` and `noexec`. */
  sourceRestrictions: string[];
};

/** `new`: a new namespace for the container. `host`: the host's namespace. `path`: an existing namespace. */
export type SpecNamespace = { kind: 'new' } | { kind: 'host' } | { kind: 'path'; path: string };

export type SpecNamespaces = {
  network: SpecNamespace;
  ipc: SpecNamespace;
  uts: SpecNamespace;
  pid: SpecNamespace;
  /** The container's user namespace. If absent, the container runs in the host's. */
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
  /**
   * The seccomp profile. `runtime-default` is built according to the container's capabilities; `undefined` means unconfined. Ignored for
   * privileged containers.
   */
  seccomp: 'runtime-default' | OciSeccomp | undefined;
  /** Name of a loaded AppArmor profile, '' for none. */
  apparmorProfile: string;
  /** SELinux label of the process, '' for none. */
  selinuxProcessLabel: string;
  /** SELinux label of the mounts that are created for the container, '' for none. */
  selinuxMountLabel: string;
};

/** Resource limits. 0, '' and absent mean unset. */
export type SpecResources = {
  cpuShares: number;
  /** CPU time per period, in microseconds. -1 means unlimited. */
  cpuQuota: number;
  /** CPU period in microseconds. */
  cpuPeriod: number;
  cpusetCpus: string;
  cpusetMems: string;
  memoryLimitBytes: number;
  /** Combined limit for memory and swap. 0 means the same as the memory limit, which leaves no swap. -1 means unlimited. */
  memorySwapLimitBytes: number;
  pidsLimit: number;
  hugepageLimits: { pageSize: string; limitBytes: number }[];
  /** Values of cgroup v2 files, by file name. Not supported on cgroup v1 hosts. */
  unified: Record<string, string>;
  oomScoreAdj: number;
};

/** A device node in the container, with its access permissions (any of `rwm`) and its path on the host. */
export type SpecDevice = OciDevice & { access: string; hostPath: string };

/** The host features that an OCI spec depends on. */
export type SpecHost = {
  /** This process's capability bounding set. */
  capabilities: string[];
  cgroupMode: CgroupMode;
  /**
   * Mount options of the cgroup v2 hierarchy, which all of its mounts share. Mounting it without them would also remove them from the
   * host's mount.
   */
  cgroupMountOptions: string[];
  /** Whether swap can be limited. */
  swapLimit: boolean;
  hugetlb: boolean;
  /** This process's hard limit on open files, which it can exceed only with CAP_SYS_RESOURCE. */
  openFiles: number;
  /** The lowest oom_score_adj that this process may set. */
  minimumOomScoreAdj: number;
  architecture: NodeJS.Architecture;
};

/** All inputs for a container's OCI spec. */
export type SpecInput = {
  args: string[];
  env: string[];
  cwd: string;
  user: OciProcess['user'];
  terminal: boolean;
  rlimits: NonNullable<OciProcess['rlimits']>;
  rootfs: { path: string; readonly: boolean };
  /** Host name of the container; used only if its UTS namespace is `new`. */
  hostname: string;
  mounts: SpecMount[];
  security: SpecSecurity;
  namespaces: SpecNamespaces;
  devices: SpecDevice[];
  /** All of the host's device nodes, for a privileged container. */
  hostDevices: OciDevice[];
  resources: SpecResources;
  sysctls?: Record<string, string>;
  cgroupsPath: string;
  annotations: Record<string, string>;
  host: SpecHost;
};
