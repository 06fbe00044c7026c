export * from './hierarchy.ts';
export * from './oom.ts';
export * from './tree.ts';
