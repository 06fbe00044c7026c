export { type HostAbilities, probeHost } from './host/host-abilities.ts';
export type { RuntimeOptions } from './options.ts';
export { type RuntimeHandle, startRuntime } from './runtime.ts';
