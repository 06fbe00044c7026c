import { create } from '@bufbuild/protobuf';
import type { FieldName } from './field-owners.ts';
import {
  type ContainerAdjustment,
  ContainerAdjustmentSchema,
  type KeyValue,
  type LinuxContainerAdjustment,
  LinuxContainerAdjustmentSchema,
} from './gen/nri/v1alpha1/adjustment_pb.js';
import {
  type Container,
  type Hooks,
  HooksSchema,
  type LinuxContainer,
  LinuxContainerSchema,
  type LinuxRdt,
  LinuxRdtSchema,
  LinuxResourcesSchema,
} from './gen/nri/v1alpha1/container_pb.js';
import { type Claimant, mergeList, mergeMap } from './merge-entries.ts';
import { mergeResources } from './merge-resources.ts';
import { HOOK_STAGES } from './oci-spec.ts';

/** `container`: the container as the next plugin will receive it. `adjust`: the merged adjustments of all plugins so far. */
export type Merged = { container: Container; adjust: ContainerAdjustment };

type MergedLinux = { container: LinuxContainer; adjust: LinuxContainerAdjustment };

/** Returns an empty merge. `mergeAdjustment` will modify `container` in place. */
export function beginMerge(container: Container): Merged {
  container.hooks ??= create(HooksSchema);
  container.linux ??= create(LinuxContainerSchema);
  container.linux.resources ??= create(LinuxResourcesSchema);
  return { container, adjust: emptyAdjustment() };
}

/** Returns an adjustment that changes nothing. */
export function emptyAdjustment(): ContainerAdjustment {
  const linux = create(LinuxContainerAdjustmentSchema, { resources: {} });
  return create(ContainerAdjustmentSchema, { hooks: {}, linux });
}

/** Merges a plugin's adjustments in place. Throws `failed_precondition` if another plugin has already set one of the fields. */
export function mergeAdjustment(claimant: Claimant, merged: Merged, changes: ContainerAdjustment): void {
  const { owners, containerId, plugin } = claimant;
  const { container, adjust } = merged;
  mergeMap(
    claimant,
    { field: 'Annotations', current: container.annotations, adjusted: adjust.annotations },
    changes.annotations,
  );
  mergeList(
    claimant,
    { field: 'Mounts', current: container.mounts, adjusted: adjust.mounts, keyOf: ({ destination }) => destination },
    changes.mounts,
  );
  mergeEnvironment(claimant, merged, changes.env);
  mergeArguments(claimant, merged, changes.args);
  if (changes.hooks !== undefined) mergeHooks(claimant, merged, changes.hooks);
  for (const limit of changes.rlimits) {
    owners.claim(containerId, 'Rlimits', { plugin, key: limit.type });
    container.rlimits = [...container.rlimits.filter(({ type }) => type !== limit.type), limit];
    adjust.rlimits.push(limit);
  }
  for (const device of changes.cdiDevices) {
    owners.claim(containerId, 'CdiDevices', { plugin, key: device.name });
    adjust.cdiDevices.push(device);
  }
  if (changes.linux !== undefined)
    mergeLinux(claimant, { container: container.linux!, adjust: adjust.linux! }, changes.linux);
}

function mergeLinux(claimant: Claimant, { container, adjust }: MergedLinux, changes: LinuxContainerAdjustment): void {
  const { owners, containerId, plugin } = claimant;
  mergeList(
    claimant,
    { field: 'Devices', current: container.devices, adjusted: adjust.devices, keyOf: ({ path }) => path },
    changes.devices,
  );
  mergeResources(claimant, [container.resources!, adjust.resources!], changes.resources);
  for (const namespace of changes.namespaces) {
    const key = namespace.type.replace(/^-/, '');
    owners.claim(containerId, 'Namespace', { plugin, key });
    container.namespaces = container.namespaces.filter(({ type }) => type !== key);
    if (key === namespace.type) container.namespaces.push(namespace);
    adjust.namespaces.push(namespace);
  }
  mergeMap(claimant, { field: 'Sysctl', current: container.sysctl, adjusted: adjust.sysctl }, changes.sysctl);
  mergeMap(
    claimant,
    { field: 'LinuxNetDevices', current: container.netDevices, adjusted: adjust.netDevices },
    changes.netDevices,
  );
  if (changes.rdt !== undefined) mergeRdt(claimant, { container, adjust }, changes.rdt);
  const set = <K extends keyof LinuxContainerAdjustment>(name: K, field: FieldName) => {
    const value = changes[name];
    if (value === undefined || value === '') return;
    owners.claim(containerId, field, { plugin });
    adjust[name] = value;
    if (name in LinuxContainerSchema.field) Object.assign(container, { [name]: value });
  };
  set('cgroupsPath', 'CgroupsPath');
  set('oomScoreAdj', 'OomScoreAdj');
  set('ioPriority', 'IoPriority');
  set('seccompPolicy', 'SeccompPolicy');
  set('scheduler', 'LinuxSched');
  set('memoryPolicy', 'MemoryPolicy');
}

/** Merges environment variables, which are `NAME=value` strings in containers but key-value pairs in adjustments. */
function mergeEnvironment(claimant: Claimant, { container, adjust }: Merged, changes: KeyValue[]): void {
  const current = container.env.map((entry) => {
    const [key = ''] = entry.split('=', 1);
    return { key, value: entry.slice(key.length + 1) };
  });
  const pairs = { field: 'Env', current, adjusted: adjust.env, keyOf: ({ key }: { key: string }) => key } as const;
  mergeList<{ key: string; value: string }>(claimant, pairs as never, changes);
  container.env = current.map(({ key, value }) => `${key}=${value}`);
}

/** Merges arguments. A plugin whose list starts with '' may replace arguments set by another plugin. */
function mergeArguments({ owners, containerId, plugin }: Claimant, merged: Merged, changes: string[]): void {
  if (changes.length === 0) return;
  const replaces = changes[0] === '';
  if (replaces) owners.clear(containerId, 'Args', { plugin });
  owners.claim(containerId, 'Args', { plugin });
  merged.adjust.args = replaces ? changes.slice(1) : changes;
  merged.container.args = merged.adjust.args;
}

function mergeHooks({ owners, containerId, plugin }: Claimant, { container, adjust }: Merged, changes: Hooks): void {
  if (HOOK_STAGES.every((stage) => changes[stage].length === 0)) return;
  owners.share(containerId, 'OciHooks', plugin);
  for (const stage of HOOK_STAGES) {
    container.hooks![stage].push(...changes[stage]);
    adjust.hooks![stage].push(...changes[stage]);
  }
}

function mergeRdt(claimant: Claimant, { container, adjust }: MergedLinux, changes: LinuxRdt): void {
  const { owners, containerId, plugin } = claimant;
  const fields = [
    ['closId', 'RdtClosID'],
    ['schemata', 'RdtSchemata'],
    ['enableMonitoring', 'RdtEnableMonitoring'],
  ] as const;
  if (changes.remove) {
    for (const [, field] of fields) owners.clear(containerId, field, { plugin });
    adjust.rdt = create(LinuxRdtSchema, { remove: true });
    container.rdt = undefined;
  }
  for (const [name, field] of fields) {
    const value = changes[name];
    if (value === undefined) continue;
    owners.claim(containerId, field, { plugin });
    adjust.rdt ??= create(LinuxRdtSchema);
    container.rdt ??= create(LinuxRdtSchema);
    Object.assign(adjust.rdt, { [name]: value });
    Object.assign(container.rdt, { [name]: value });
  }
}
