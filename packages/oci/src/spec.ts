/** The parts of the OCI runtime spec's config.json that Podwright uses (runtime-spec 1.0.2 and later). */
export type OciSpec = {
  ociVersion: string;
  process: OciProcess;
  root: { path: string; readonly: boolean };
  hostname?: string;
  mounts: OciMount[];
  hooks?: { [K in OciHookName]?: OciHook[] };
  annotations?: Record<string, string>;
  linux: OciLinux;
};

export type OciHookName =
  | 'prestart'
  | 'createRuntime'
  | 'createContainer'
  | 'startContainer'
  | 'poststart'
  | 'poststop';

/** A program that the OCI runtime runs at some stage of the container's lifecycle. `timeout` is in seconds. */
export type OciHook = { path: string; args?: string[]; env?: string[]; timeout?: number };

export type OciProcess = {
  terminal: boolean;
  user: { uid: number; gid: number; umask?: number; additionalGids?: number[] };
  args: string[];
  env: string[];
  cwd: string;
  capabilities?: Record<'bounding' | 'effective' | 'permitted' | 'inheritable' | 'ambient', string[]>;
  rlimits?: { type: string; soft: number; hard: number }[];
  noNewPrivileges?: boolean;
  apparmorProfile?: string;
  selinuxLabel?: string;
  oomScoreAdj?: number;
};

export type OciMount = {
  destination: string;
  type: string;
  source: string;
  options: string[];
};

export type OciIdMapping = { containerID: number; hostID: number; size: number };

export type OciLinux = {
  namespaces: { type: 'pid' | 'network' | 'ipc' | 'uts' | 'mount' | 'user' | 'cgroup'; path?: string }[];
  uidMappings?: OciIdMapping[];
  gidMappings?: OciIdMapping[];
  devices?: OciDevice[];
  cgroupsPath: string;
  resources?: OciLinuxResources;
  sysctl?: Record<string, string>;
  seccomp?: OciSeccomp;
  rootfsPropagation?: string;
  maskedPaths?: string[];
  readonlyPaths?: string[];
  mountLabel?: string;
  intelRdt?: {
    closID?: string;
    l3CacheSchema?: string;
    memBwSchema?: string;
    schemata?: string[];
    enableMonitoring?: boolean;
  };
};

export type OciDevice = {
  type: string;
  path: string;
  major: number;
  minor: number;
  fileMode?: number;
  uid?: number;
  gid?: number;
};

export type OciLinuxResources = {
  devices?: { allow: boolean; type?: string; major?: number; minor?: number; access?: string }[];
  memory?: { limit?: number; reservation?: number; swap?: number };
  cpu?: { shares?: number; quota?: number; period?: number; cpus?: string; mems?: string };
  pids?: { limit: number };
  hugepageLimits?: { pageSize: string; limit: number }[];
  unified?: Record<string, string>;
};

/** A seccomp filter (runtime-spec, config-linux.md). A profile read from a file may contain more fields, which are passed on unchanged. */
export type OciSeccomp = {
  defaultAction: string;
  defaultErrnoRet?: number;
  architectures?: string[];
  flags?: string[];
  syscalls?: OciSeccompRule[];
};

export type OciSeccompRule = {
  names: string[];
  action: string;
  errnoRet?: number;
  args?: { index: number; value: number; valueTwo?: number; op: string }[];
};
