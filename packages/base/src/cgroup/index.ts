export type { CpuStats } from './cpu-stats.ts';
export * from './hierarchy.ts';
export type { DeviceIo, HugepageStats } from './io-stats.ts';
export * from './limits.ts';
export { type MemoryStats, readOomKills } from './memory-stats.ts';
export type { CgroupPressure, PressureStats } from './pressure.ts';
export * from './slice.ts';
export * from './stats.ts';
export * from './tree.ts';
