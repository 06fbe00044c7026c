export { type DockershimHandle, startDockershim } from './dockershim.ts';
export { type EngineDescription, lookAtEngine } from './look-at-engine.ts';
export { lookAtPodNetwork } from './look-at-network.ts';
export type { DockershimOptions } from './options.ts';
