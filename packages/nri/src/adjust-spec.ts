import { adjustResources } from './adjust-resources.ts';
import type { ContainerAdjustment, LinuxContainerAdjustment } from './gen/nri/v1alpha1/adjustment_pb.js';
import {
  type Hooks,
  IOPrioClass,
  type LinuxDevice,
  type LinuxScheduler,
  LinuxSchedulerFlag,
  LinuxSchedulerPolicy,
  type LinuxSeccomp,
  type Mount,
  MpolFlag,
  MpolMode,
} from './gen/nri/v1alpha1/container_pb.js';
import {
  HOOK_STAGES,
  type NriDevice,
  type NriHook,
  type NriLinux,
  type NriMount,
  type NriScheduler,
  type NriSeccomp,
  type NriSpec,
} from './oci-spec.ts';
import { isRemoval, removedKey } from './removal.ts';
import { toNumber } from './to-number.ts';

/**
 * Applies merged adjustments to an OCI specification. Pure. Ignores CDI devices, block I/O classes and RDT classes, which the container
 * runtime resolves. If plugins adjust mounts, all mounts are sorted by depth, so that parent directories are mounted first.
 */
export function adjustSpec<S extends NriSpec>(spec: S, adjust: ContainerAdjustment): S {
  const { process, mounts, hooks, annotations, linux } = spec as NriSpec;
  const rlimits = adjust.rlimits.map(({ type, soft, hard }) => ({ type, soft: toNumber(soft), hard: toNumber(hard) }));
  const { ioPriority, scheduler, oomScoreAdj } = adjust.linux ?? {};
  const adjusted: NriSpec = {
    ...spec,
    process: {
      ...process,
      env: adjustList(process?.env ?? [], adjust.env, {
        keyOf: (entry) => entry.split('=', 1)[0]!,
        changedKeyOf: ({ key }) => key,
        convert: ({ key, value }) => `${key}=${value}`,
      }),
      ...(adjust.args.length === 0 ? {} : { args: adjust.args }),
      ...(rlimits.length === 0 ? {} : { rlimits: replaceBy(process?.rlimits ?? [], rlimits, ({ type }) => type) }),
      ...(oomScoreAdj === undefined ? {} : { oomScoreAdj: Number(oomScoreAdj.value) }),
      ...(ioPriority === undefined ? {} : { ioPriority: ioPriorityOf(ioPriority.class, ioPriority.priority) }),
      ...(scheduler === undefined ? {} : { scheduler: schedulerOf(scheduler) }),
    },
    ...(adjust.mounts.length === 0 ? {} : { mounts: adjustMounts(mounts ?? [], adjust.mounts) }),
    annotations: adjustMap(annotations ?? {}, adjust.annotations),
    ...(adjust.hooks === undefined ? {} : withHooks(hooks, adjust.hooks)),
    linux: adjustLinux(linux ?? {}, adjust.linux, rootPropagation(linux?.rootfsPropagation, adjust.mounts)),
  };
  return adjusted as S;
}

function adjustLinux(
  linux: NriLinux,
  adjust: LinuxContainerAdjustment | undefined,
  rootfsPropagation?: string,
): NriLinux {
  const propagation = rootfsPropagation === undefined ? {} : { rootfsPropagation };
  if (adjust === undefined) return { ...linux, ...propagation };
  const { seccompPolicy, memoryPolicy, rdt } = adjust;
  const devices = adjustList(linux.devices ?? [], adjust.devices, {
    keyOf: ({ path }) => path,
    changedKeyOf: ({ path }) => path,
    convert: deviceOf,
  });
  const namespaces = adjustList(linux.namespaces ?? [], adjust.namespaces, {
    keyOf: ({ type }) => type,
    changedKeyOf: ({ type }) => type,
    convert: ({ type, path }) => (path === '' ? { type } : { type, path }),
  });
  const sysctl = adjustMap(linux.sysctl ?? {}, adjust.sysctl);
  const netDevices = adjustMap(linux.netDevices ?? {}, adjust.netDevices);
  const { intelRdt, ...others } = linux;
  const fields = {
    ...(rdt?.remove || intelRdt === undefined ? {} : intelRdt),
    ...(rdt?.closId === undefined ? {} : { closID: rdt.closId.value }),
    ...(rdt?.schemata === undefined ? {} : { schemata: rdt.schemata.value }),
    ...(rdt?.enableMonitoring === undefined ? {} : { enableMonitoring: rdt.enableMonitoring.value }),
  };
  const rules = adjust.devices.filter(({ path }) => !isRemoval(path)).map(ruleOf);
  return {
    ...others,
    ...propagation,
    ...(adjust.namespaces.length === 0 ? {} : { namespaces }),
    ...(adjust.devices.length === 0 ? {} : { devices }),
    ...(adjust.cgroupsPath === '' ? {} : { cgroupsPath: adjust.cgroupsPath }),
    resources: adjustResources(linux.resources ?? {}, adjust.resources, rules),
    ...(Object.keys(sysctl).length === 0 ? {} : { sysctl }),
    ...(Object.keys(netDevices).length === 0 ? {} : { netDevices }),
    ...(seccompPolicy === undefined ? {} : { seccomp: seccompOf(seccompPolicy) }),
    ...(Object.keys(fields).length === 0 ? {} : { intelRdt: fields }),
    ...(memoryPolicy === undefined
      ? {}
      : {
          memoryPolicy: {
            mode: MpolMode[memoryPolicy.mode],
            nodes: memoryPolicy.nodes,
            flags: memoryPolicy.flags.map((flag) => MpolFlag[flag]),
          },
        }),
  };
}

/** Applies changes to a list whose entries have unique keys. A change whose key has the removal marker removes the entry. */
function adjustList<T, C>(
  entries: readonly T[],
  changes: readonly C[],
  {
    keyOf,
    changedKeyOf,
    convert,
  }: { keyOf: (entry: T) => string; changedKeyOf: (change: C) => string; convert: (change: C) => T },
): T[] {
  const removed = new Set(changes.map(changedKeyOf).filter(isRemoval).map(removedKey));
  const added = changes.filter((change) => !isRemoval(changedKeyOf(change))).map(convert);
  return replaceBy(
    entries.filter((entry) => !removed.has(keyOf(entry))),
    added,
    keyOf,
  );
}

/** Replaces, in place, the entries that have the same key as an added one, and appends the other added entries. */
function replaceBy<T>(entries: readonly T[], added: readonly T[], keyOf: (entry: T) => string): T[] {
  const merged = new Map([...entries, ...added].map((entry) => [keyOf(entry), entry]));
  return [...merged.values()];
}

function adjustMap<V>(entries: Record<string, V>, changes: Record<string, V>): Record<string, V> {
  const adjusted = { ...entries };
  for (const key of Object.keys(changes).filter(isRemoval)) delete adjusted[removedKey(key)];
  for (const [key, value] of Object.entries(changes)) if (!isRemoval(key)) adjusted[key] = value;
  return adjusted;
}

function adjustMounts(mounts: readonly NriMount[], changes: readonly Mount[]): NriMount[] {
  const depth = ({ destination }: NriMount) => destination.split('/').filter((part) => part !== '').length;
  return adjustList(mounts, changes, {
    keyOf: ({ destination }) => destination,
    changedKeyOf: ({ destination }) => destination,
    convert: ({ destination, type, source, options }): NriMount => ({ destination, type, source, options }),
  }).toSorted((a, b) => depth(a) - depth(b));
}

/**
 * Returns the new propagation of the root file system, or `undefined` to keep the current one: `rshared` and `rslave` mounts only work
 * under a root with that propagation.
 */
function rootPropagation(current: string | undefined, mounts: readonly Mount[]): string | undefined {
  const has = (option: string) => mounts.some(({ options }) => options.includes(option));
  if (has('rshared')) return 'rshared';
  return has('rslave') && current !== 'rshared' ? 'rslave' : undefined;
}

function withHooks(current: NriSpec['hooks'], added: Hooks): Pick<NriSpec, 'hooks'> {
  const stages = HOOK_STAGES.filter((stage) => added[stage].length > 0);
  if (stages.length === 0) return {};
  const hookOf = ({ path, args, env, timeout }: Hooks['prestart'][number]): NriHook => ({
    path,
    ...(args.length === 0 ? {} : { args }),
    ...(env.length === 0 ? {} : { env }),
    ...(timeout === undefined ? {} : { timeout: Number(timeout.value) }),
  });
  const changed = stages.map((stage) => [stage, [...(current?.[stage] ?? []), ...added[stage].map(hookOf)]]);
  return { hooks: { ...current, ...Object.fromEntries(changed) } };
}

function deviceOf({ type, path, major, minor, fileMode, uid, gid }: LinuxDevice): NriDevice {
  return {
    type,
    path,
    major: Number(major),
    minor: Number(minor),
    ...(fileMode === undefined ? {} : { fileMode: fileMode.value }),
    ...(uid === undefined ? {} : { uid: uid.value }),
    ...(gid === undefined ? {} : { gid: gid.value }),
  };
}

/** Returns the device cgroup rule for a device, which allows reading and writing and, for block devices, mknod, as in containerd. */
function ruleOf({ type, major, minor }: LinuxDevice) {
  return { allow: true, type, major: Number(major), minor: Number(minor), access: type === 'b' ? 'rwm' : 'rw' };
}

function ioPriorityOf(kind: IOPrioClass, priority: number) {
  return kind === IOPrioClass.IOPRIO_CLASS_NONE ? undefined : { class: IOPrioClass[kind], priority };
}

function schedulerOf(scheduler: LinuxScheduler): NriScheduler {
  const { policy, nice, priority, flags, runtime, deadline, period } = scheduler;
  return {
    policy: LinuxSchedulerPolicy[policy],
    nice,
    priority,
    flags: flags.map((flag) => LinuxSchedulerFlag[flag]),
    runtime: toNumber(runtime),
    deadline: toNumber(deadline),
    period: toNumber(period),
  };
}

function seccompOf(policy: LinuxSeccomp): NriSeccomp {
  const { defaultAction, defaultErrno, architectures, flags, listenerPath, listenerMetadata, syscalls } = policy;
  return {
    defaultAction,
    ...(defaultErrno === undefined ? {} : { defaultErrnoRet: defaultErrno.value }),
    architectures,
    flags,
    ...(listenerPath === '' ? {} : { listenerPath }),
    ...(listenerMetadata === '' ? {} : { listenerMetadata }),
    syscalls: syscalls.map(({ names, action, errnoRet, args }) => ({
      names,
      action,
      ...(errnoRet === undefined ? {} : { errnoRet: errnoRet.value }),
      args: args.map(({ index, value, valueTwo, op }) => ({
        index,
        value: toNumber(value),
        valueTwo: toNumber(valueTwo),
        op,
      })),
    })),
  };
}
