/** What of a node may run short, by the names of upstream's pkg/kubelet/eviction/api, and what that means. */
export const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;
export type Signal = (typeof SIGNALS)[number];

/** What is taken from pods that are evicted for it. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** Conditions of a node, in the order in which they are told. */
export const PRESSURE_CONDITIONS = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
export type PressureCondition = (typeof PRESSURE_CONDITIONS)[number];

export function isSignal(name: string): name is Signal {
  return (SIGNALS as readonly string[]).includes(name);
}

export function resourceOf(signal: Signal): StarvedResource {
  if (signal === 'pid.available') return 'pids';
  if (isOfMemory(signal)) return 'memory';
  return signal.endsWith('.inodesFree') ? 'inodes' : 'ephemeral-storage';
}

export function conditionOf(signal: Signal): PressureCondition {
  if (signal === 'pid.available') return 'PIDPressure';
  return isOfMemory(signal) ? 'MemoryPressure' : 'DiskPressure';
}

/** Of a file system: its space, or its inodes. */
export function isOfDisk(signal: Signal): boolean {
  return conditionOf(signal) === 'DiskPressure';
}

/** Whether it is told in bytes, and not in pieces. */
export function isInBytes(signal: Signal): boolean {
  return ['memory', 'ephemeral-storage'].includes(resourceOf(signal));
}

/** Of the whole node, or of what pods may have together. */
export function isOfMemory(signal: Signal): boolean {
  return signal === 'memory.available' || signal === 'allocatableMemory.available';
}
