import { clone, create } from '@bufbuild/protobuf';
import type { FieldName } from './field-owners.ts';
import {
  type LinuxCPU,
  LinuxCPUSchema,
  type LinuxMemory,
  LinuxMemorySchema,
  type LinuxResources,
  LinuxResourcesSchema,
} from './gen/nri/v1alpha1/container_pb.js';
import type { Claimant } from './merge-entries.ts';

/** The fields of an NRI message, each with its name in `FieldOwners`. */
type Fields<T> = readonly (readonly [Exclude<keyof T, `$${string}`> & string, FieldName])[];

const MEMORY: Fields<LinuxMemory> = [
  ['limit', 'MemLimit'],
  ['reservation', 'MemReservation'],
  ['swap', 'MemSwapLimit'],
  ['kernel', 'MemKernelLimit'],
  ['kernelTcp', 'MemTCPLimit'],
  ['swappiness', 'MemSwappiness'],
  ['disableOomKiller', 'MemDisableOomKiller'],
  ['useHierarchy', 'MemUseHierarchy'],
];
const CPU: Fields<LinuxCPU> = [
  ['shares', 'CPUShares'],
  ['quota', 'CPUQuota'],
  ['period', 'CPUPeriod'],
  ['realtimeRuntime', 'CPURealtimeRuntime'],
  ['realtimePeriod', 'CPURealtimePeriod'],
  ['cpus', 'CPUSetCPUs'],
  ['mems', 'CPUSetMems'],
];
const CLASSES: Fields<LinuxResources> = [
  ['blockioClass', 'BlockioClass'],
  ['rdtClass', 'RdtClass'],
  ['pids', 'PidsLimit'],
];

/** Merges the resources set by a plugin into each of the targets, in place. */
export function mergeResources(
  claimant: Claimant,
  targets: readonly LinuxResources[],
  changes: LinuxResources | undefined,
): void {
  if (changes === undefined) return;
  for (const target of targets) {
    target.memory ??= create(LinuxMemorySchema);
    target.cpu ??= create(LinuxCPUSchema);
  }
  setFields(claimant, MEMORY, { targets: targets.map(({ memory }) => memory), changes: changes.memory });
  setFields(claimant, CPU, { targets: targets.map(({ cpu }) => cpu), changes: changes.cpu });
  setFields(claimant, CLASSES, { targets, changes });
  const { owners, containerId, plugin } = claimant;
  for (const limit of changes.hugepageLimits) {
    owners.claim(containerId, 'HugepageLimits', { plugin, key: limit.pageSize });
    for (const { hugepageLimits } of targets) {
      const others = hugepageLimits.filter(({ pageSize }) => pageSize !== limit.pageSize);
      hugepageLimits.splice(0, hugepageLimits.length, ...others, limit);
    }
  }
  for (const [key, value] of Object.entries(changes.unified)) {
    owners.claim(containerId, 'CgroupsUnified', { plugin, key });
    for (const { unified } of targets) unified[key] = value;
  }
  for (const { devices } of targets) devices.push(...changes.devices);
}

/** Returns a copy of the resources, so that a failed merge leaves them unchanged. */
export const copyResources = (resources: LinuxResources | undefined): LinuxResources =>
  resources === undefined ? create(LinuxResourcesSchema) : clone(LinuxResourcesSchema, resources);

/** Copies the fields that are set in a plugin's resources to each target, and makes the plugin their owner. */
function setFields<T extends object>(
  { owners, containerId, plugin }: Claimant,
  fields: Fields<T>,
  { targets, changes }: { targets: readonly (T | undefined)[]; changes: T | undefined },
): void {
  for (const [name, field] of fields) {
    const value = changes?.[name as keyof T];
    if (value === undefined || value === '') continue;
    owners.claim(containerId, field, { plugin });
    for (const target of targets) if (target !== undefined) target[name as keyof T] = value;
  }
}
