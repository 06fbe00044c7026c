export { CpuSamples } from './cpu-samples.ts';
export type { CpuStats } from './cpu-stats.ts';
export {
  type CgroupHierarchy,
  type CgroupMode,
  cgroupDirectory,
  discoverCgroups,
  readCgroupFile,
  treeOf,
} from './hierarchy.ts';
export type { DeviceIo } from './io-stats.ts';
export { type CgroupLimits, cpuWeightOfShares, limitWrites, setCgroupLimits } from './limits.ts';
export { type MemoryStats, readOomKills } from './memory-stats.ts';
export { type CgroupPressure, type PressureStats, readHostPressure } from './pressure.ts';
export { cgroupPathOf, parseSystemdCgroup, scopeOf, slicePath } from './slice.ts';
export { type CgroupStats, readCgroupStats, readCgroupUse } from './stats.ts';
export {
  type CgroupDriver,
  delegateCgroup,
  delegatedUnit,
  endDelegation,
  endScope,
  endSlice,
  isSystemdHost,
  type SliceProperties,
  setSlice,
  systemdObstacle,
  takesScopeOomPolicy,
} from './systemd.ts';
export {
  cgroupExists,
  cgroupPids,
  countCgroupProcesses,
  createCgroup,
  killCgroup,
  listChildCgroups,
  removeCgroup,
} from './tree.ts';
