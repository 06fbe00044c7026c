/** Eviction signals, by their upstream names (pkg/kubelet/eviction/api). */
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

/** The resource that runs out when a signal's threshold is met. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** Pressure conditions, in the order in which the node status reports them. */
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

/** Whether the signal measures the space or inodes of a file system. */
export function isOfDisk(signal: Signal): boolean {
  return conditionOf(signal) === 'DiskPressure';
}

/** Whether the signal is measured in bytes rather than as a count. */
export function isInBytes(signal: Signal): boolean {
  return ['memory', 'ephemeral-storage'].includes(resourceOf(signal));
}

/** Whether the signal measures memory, either the whole node's or its allocatable part. */
export function isOfMemory(signal: Signal): boolean {
  return signal === 'memory.available' || signal === 'allocatableMemory.available';
}
