export { type DockershimHandle, startDockershim } from './dockershim.ts';
export { type EngineDescription, lookAtEngine } from './look-at-engine.ts';
export type { DockershimOptions } from './options.ts';
