export type { DockershimOptions } from './options.ts';
