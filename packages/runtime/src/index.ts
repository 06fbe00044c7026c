export type { RuntimeOptions } from './options.ts';
