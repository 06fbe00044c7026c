export { type DockershimHandle, startDockershim } from './dockershim.ts';
export type { DockershimOptions } from './options.ts';
