/** The parts of an OCI specification (runtime-spec 1.3, config.json) that plugins see and adjust. Other parts are left unchanged. */
export type NriSpec = {
  process?: {
    args?: string[];
    env?: string[];
    user?: { uid: number; gid: number; additionalGids?: number[] };
    rlimits?: { type: string; soft: number; hard: number }[];
    oomScoreAdj?: number;
    ioPriority?: { class: string; priority: number };
    scheduler?: NriScheduler;
  };
  mounts?: NriMount[];
  hooks?: { [stage in HookStage]?: NriHook[] };
  annotations?: Record<string, string>;
  linux?: NriLinux;
};

/** OCI's names for hook stages, in NRI's order. */
export const HOOK_STAGES = [
  'prestart',
  'createRuntime',
  'createContainer',
  'startContainer',
  'poststart',
  'poststop',
] as const;

type HookStage = (typeof HOOK_STAGES)[number];

export type NriHook = { path: string; args?: string[]; env?: string[]; timeout?: number };

export type NriMount = { destination: string; type?: string; source?: string; options?: string[] };

export type NriScheduler = {
  policy: string;
  nice?: number;
  priority?: number;
  flags?: string[];
  runtime?: number;
  deadline?: number;
  period?: number;
};

export type NriDevice = {
  type: string;
  path: string;
  major: number;
  minor: number;
  fileMode?: number;
  uid?: number;
  gid?: number;
};

export type NriLinux = {
  namespaces?: { type: string; path?: string }[];
  devices?: NriDevice[];
  cgroupsPath?: string;
  resources?: NriSpecResources;
  sysctl?: Record<string, string>;
  seccomp?: NriSeccomp;
  rootfsPropagation?: string;
  intelRdt?: { closID?: string; schemata?: string[]; enableMonitoring?: boolean };
  netDevices?: Record<string, { name?: string }>;
  memoryPolicy?: { mode: string; nodes: string; flags?: string[] };
};

export type NriSpecResources = {
  devices?: { allow: boolean; type?: string; major?: number; minor?: number; access?: string }[];
  memory?: {
    limit?: number;
    reservation?: number;
    swap?: number;
    kernel?: number;
    kernelTCP?: number;
    swappiness?: number;
    disableOOMKiller?: boolean;
    useHierarchy?: boolean;
  };
  cpu?: {
    shares?: number;
    quota?: number;
    period?: number;
    realtimeRuntime?: number;
    realtimePeriod?: number;
    cpus?: string;
    mems?: string;
  };
  pids?: { limit?: number };
  hugepageLimits?: { pageSize: string; limit: number }[];
  unified?: Record<string, string>;
};

export type NriSeccomp = {
  defaultAction: string;
  defaultErrnoRet?: number;
  architectures?: string[];
  flags?: string[];
  listenerPath?: string;
  listenerMetadata?: string;
  syscalls?: {
    names: string[];
    action: string;
    errnoRet?: number;
    args?: { index: number; value: number; valueTwo?: number; op: string }[];
  }[];
};
