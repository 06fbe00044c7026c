export { lookAtNetwork } from './builtins.ts';
export { measureCgroupMove } from './host/cgroup-move-cost.ts';
export { type HostAbilities, probeHost } from './host/host-abilities.ts';
export { knownHoles } from './host/known-holes.ts';
export { inspectPlugins } from './inspect-plugins.ts';
export type { NetworkDescription } from './network/choice/chosen-network.ts';
export type { HandlerOptions, RuntimeOptions } from './options.ts';
export type { PluginState } from './plugin/plugin.ts';
export { type RuntimeHandle, startRuntime } from './runtime.ts';
