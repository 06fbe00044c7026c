export * from './hierarchy.ts';
export * from './limits.ts';
export * from './oom.ts';
export * from './slice.ts';
export * from './stats.ts';
export * from './tree.ts';
