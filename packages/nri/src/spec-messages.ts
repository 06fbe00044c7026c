import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type Container,
  ContainerSchema,
  IOPrioClass,
  type LinuxContainerSchema,
  type LinuxResources,
  LinuxResourcesSchema,
  LinuxSchedulerFlag,
  LinuxSchedulerPolicy,
  type LinuxSchedulerSchema,
  type LinuxSeccompSchema,
} from './gen/nri/v1alpha1/container_pb.js';
import { HOOK_STAGES, type NriScheduler, type NriSeccomp, type NriSpec, type NriSpecResources } from './oci-spec.ts';

/** Converts a container's OCI specification to the message that plugins receive. */
export function containerOfSpec(spec: NriSpec): Container {
  const { process } = spec;
  return create(ContainerSchema, {
    args: process?.args ?? [],
    env: process?.env ?? [],
    mounts: (spec.mounts ?? []).map(({ destination, type = '', source = '', options = [] }) => ({
      destination,
      type,
      source,
      options,
    })),
    hooks: Object.fromEntries(
      HOOK_STAGES.map((stage) => [
        stage,
        (spec.hooks?.[stage] ?? []).map((hook) => ({ ...hook, timeout: int(hook.timeout) })),
      ]),
    ),
    annotations: { ...spec.annotations },
    rlimits: (process?.rlimits ?? []).map(({ type, soft, hard }) => ({ type, soft: uint(soft), hard: uint(hard) })),
    ...(process?.user === undefined ? {} : { user: { ...process.user } }),
    linux: linuxOfSpec(spec),
  });
}

function linuxOfSpec({ process, linux }: NriSpec): MessageInitShape<typeof LinuxContainerSchema> {
  const seccomp = linux?.seccomp;
  const ioPriority = process?.ioPriority;
  const rdt = linux?.intelRdt;
  return {
    namespaces: (linux?.namespaces ?? []).map(({ type, path = '' }) => ({ type, path })),
    devices: (linux?.devices ?? []).map(({ fileMode, uid, gid, major, minor, ...device }) => ({
      ...device,
      major: BigInt(major),
      minor: BigInt(minor),
      fileMode: optional(fileMode),
      uid: optional(uid),
      gid: optional(gid),
    })),
    resources: resourcesMessage(linux?.resources ?? {}),
    oomScoreAdj: int(process?.oomScoreAdj),
    cgroupsPath: linux?.cgroupsPath ?? '',
    sysctl: linux?.sysctl ?? {},
    netDevices: Object.fromEntries(
      Object.entries(linux?.netDevices ?? {}).map(([key, { name = '' }]) => [key, { name }]),
    ),
    ...(seccomp === undefined ? {} : { seccompPolicy: seccompMessage(seccomp) }),
    ...(process?.scheduler === undefined ? {} : { scheduler: schedulerMessage(process.scheduler) }),
    ...(ioPriority === undefined
      ? {}
      : { ioPriority: { class: named(IOPrioClass, ioPriority.class), priority: ioPriority.priority } }),
    ...(rdt === undefined
      ? {}
      : {
          rdt: {
            closId: optional(rdt.closID),
            schemata: optional(rdt.schemata),
            enableMonitoring: optional(rdt.enableMonitoring),
          },
        }),
  };
}

/** Converts resources in OCI format to a message. */
export function resourcesMessage({ memory, cpu, ...others }: NriSpecResources): LinuxResources {
  return create(LinuxResourcesSchema, {
    memory: {
      limit: int(memory?.limit),
      reservation: int(memory?.reservation),
      swap: int(memory?.swap),
      kernel: int(memory?.kernel),
      kernelTcp: int(memory?.kernelTCP),
      swappiness: int(memory?.swappiness),
      disableOomKiller: optional(memory?.disableOOMKiller),
      useHierarchy: optional(memory?.useHierarchy),
    },
    cpu: {
      shares: int(cpu?.shares),
      quota: int(cpu?.quota),
      period: int(cpu?.period),
      realtimeRuntime: int(cpu?.realtimeRuntime),
      realtimePeriod: int(cpu?.realtimePeriod),
      cpus: cpu?.cpus ?? '',
      mems: cpu?.mems ?? '',
    },
    hugepageLimits: (others.hugepageLimits ?? []).map(({ pageSize, limit }) => ({ pageSize, limit: uint(limit) })),
    unified: others.unified ?? {},
    devices: (others.devices ?? []).map(({ allow, type = '', major, minor, access = '' }) => ({
      allow,
      type,
      access,
      major: int(major),
      minor: int(minor),
    })),
    ...(others.pids?.limit === undefined ? {} : { pids: { limit: BigInt(others.pids.limit) } }),
  });
}

function seccompMessage(seccomp: NriSeccomp): MessageInitShape<typeof LinuxSeccompSchema> {
  const { defaultErrnoRet, syscalls = [], ...others } = seccomp;
  return {
    ...others,
    defaultErrno: optional(defaultErrnoRet),
    syscalls: syscalls.map(({ errnoRet, args = [], ...rule }) => ({
      ...rule,
      errnoRet: optional(errnoRet),
      args: args.map(({ value, valueTwo = 0, ...arg }) => ({ ...arg, value: uint(value), valueTwo: uint(valueTwo) })),
    })),
  };
}

function schedulerMessage(scheduler: NriScheduler): MessageInitShape<typeof LinuxSchedulerSchema> {
  const { policy, flags = [], runtime = 0, deadline = 0, period = 0, nice = 0, priority = 0 } = scheduler;
  return {
    policy: named(LinuxSchedulerPolicy, policy),
    flags: flags.map((flag) => named(LinuxSchedulerFlag, flag)),
    nice,
    priority,
    runtime: uint(runtime),
    deadline: uint(deadline),
    period: uint(period),
  };
}

const uint = (value: number): bigint => BigInt.asUintN(64, BigInt(Math.trunc(value)));
const int = (value: number | undefined): { value: bigint } | undefined =>
  value === undefined ? undefined : { value: BigInt(Math.trunc(value)) };
const optional = <T>(value: T | undefined): { value: T } | undefined => (value === undefined ? undefined : { value });

/** Returns an enum's number for a name, or 0 if the enum has no such name. */
function named<E extends Record<string, string | number>>(names: E, name: string): E[keyof E] & number {
  const number = names[name];
  return (typeof number === 'number' ? number : 0) as E[keyof E] & number;
}
