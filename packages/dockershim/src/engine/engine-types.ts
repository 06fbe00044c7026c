import * as z from 'zod';

/**
 * The fields used from the Engine's responses (Docker Engine API 1.41); all others are dropped. Go encodes empty lists and maps as null, so
 * null is treated as empty.
 */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const map = <T extends z.ZodType>(value: T) =>
  z
    .record(z.string(), value)
    .nullish()
    .transform((entries) => entries ?? {});
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

/** Response of `GET /version`. */
export const engineVersionSchema = z.object({
  Version: z.string(),
  ApiVersion: z.string(),
  MinAPIVersion: z.string().optional(),
});
export type EngineVersion = z.infer<typeof engineVersionSchema>;

/** Response of `GET /info`. */
export const engineInfoSchema = z.object({
  CgroupDriver: text,
  CgroupVersion: text,
  DockerRootDir: text,
  LoggingDriver: text,
  Runtimes: map(z.unknown()),
  SecurityOptions: list(z.string()),
  ServerVersion: text,
});
export type EngineInfo = z.infer<typeof engineInfoSchema>;

/** An entry of `GET /containers/json`. `Created` is in seconds since the epoch; `State` is a word such as `running`. */
export const containerSummarySchema = z.object({
  Id: z.string(),
  Names: list(z.string()),
  Image: text,
  ImageID: text,
  Created: z.number(),
  State: text,
  Labels: map(z.string()),
});
export type ContainerSummary = z.infer<typeof containerSummarySchema>;
export const containerListSchema = list(containerSummarySchema);

/** Response of `GET /containers/ID/json`. Times are in RFC 3339 format with nanoseconds; `0001-01-01T00:00:00Z` means never. */
export const containerInspectionSchema = z.object({
  Id: z.string(),
  Name: text,
  Created: text,
  Image: text,
  LogPath: text,
  ResolvConfPath: text,
  RestartCount: z.number().optional(),
  State: z.object({
    Status: text,
    Running: z.boolean(),
    Paused: z.boolean().optional(),
    OOMKilled: z.boolean().optional(),
    Pid: z.number(),
    ExitCode: z.number(),
    Error: text,
    StartedAt: text,
    FinishedAt: text,
  }),
  Config: z.object({
    Image: text,
    User: text,
    Tty: z.boolean().optional(),
    OpenStdin: z.boolean().optional(),
    StdinOnce: z.boolean().optional(),
    NetworkDisabled: z.boolean().optional(),
    StopSignal: text,
    Labels: map(z.string()),
  }),
  HostConfig: z.object({
    NetworkMode: text,
    IpcMode: text,
    PidMode: text,
    UsernsMode: text,
    Runtime: text,
    CgroupParent: text,
    LogConfig: z.object({ Type: text }).nullish(),
    CpuPeriod: z.number().nullish(),
    CpuQuota: z.number().nullish(),
    CpuShares: z.number().nullish(),
    CpusetCpus: text,
    CpusetMems: text,
    Memory: z.number().nullish(),
    MemorySwap: z.number().nullish(),
    OomScoreAdj: z.number().nullish(),
    GroupAdd: list(z.string()),
  }),
  GraphDriver: z.object({ Data: map(text) }).nullish(),
  Mounts: list(z.object({ Type: text, Source: text, Destination: text, RW: z.boolean(), Propagation: text })),
  NetworkSettings: z.object({
    IPAddress: text,
    GlobalIPv6Address: text,
    Networks: map(z.object({ IPAddress: text, GlobalIPv6Address: text }).nullable()),
  }),
});
export type ContainerInspection = z.infer<typeof containerInspectionSchema>;

/** The fields sent in `POST /containers/create`. Sizes are in bytes; CPU times use the units of the kernel's cgroup files. */
export type ContainerSpec = {
  Hostname?: string;
  /** Has the Engine create a network namespace without configuring it, and without writing `hosts` and `resolv.conf`. */
  NetworkDisabled?: boolean;
  User?: string;
  Tty?: boolean;
  OpenStdin?: boolean;
  StdinOnce?: boolean;
  Env?: string[];
  Cmd?: string[];
  Entrypoint?: string[];
  Image: string;
  WorkingDir?: string;
  Labels: Record<string, string>;
  ExposedPorts?: Record<string, object>;
  StopSignal?: string;
  /** `NONE` disables the image's health check, which the Engine would otherwise run as a new exec at each interval. */
  Healthcheck?: { Test: string[] };
  HostConfig: HostConfig;
};

export type HostConfig = {
  Binds?: string[];
  Mounts?: {
    Type: 'bind';
    Source: string;
    Target: string;
    ReadOnly?: boolean;
    BindOptions?: { Propagation?: string };
  }[];
  NetworkMode?: string;
  IpcMode?: string;
  PidMode?: string;
  UTSMode?: string;
  UsernsMode?: string;
  CgroupParent?: string;
  Runtime?: string;
  Privileged?: boolean;
  ReadonlyRootfs?: boolean;
  CapAdd?: string[];
  CapDrop?: string[];
  GroupAdd?: string[];
  SecurityOpt?: string[];
  MaskedPaths?: string[] | null;
  ReadonlyPaths?: string[] | null;
  Sysctls?: Record<string, string>;
  Devices?: { PathOnHost: string; PathInContainer: string; CgroupPermissions: string }[];
  DeviceRequests?: { Driver: string; DeviceIDs: string[] }[];
  ShmSize?: number;
  Dns?: string[];
  DnsSearch?: string[];
  DnsOptions?: string[];
  PortBindings?: Record<string, { HostIp: string; HostPort: string }[]>;
  LogConfig?: { Type: string; Config: Record<string, string> };
  RestartPolicy?: { Name: 'no' };
  OomScoreAdj?: number;
} & ContainerResources;

/** Limits for creating or updating a container. Omitted limits are left unchanged. */
export type ContainerResources = {
  CpuPeriod?: number;
  CpuQuota?: number;
  CpuShares?: number;
  CpusetCpus?: string;
  CpusetMems?: string;
  Memory?: number;
  MemorySwap?: number;
};
