export type { ProxyOptions, RunningProxy } from './proxy.ts';
export { startProxy } from './start-proxy.ts';
