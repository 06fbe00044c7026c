export { type CriProxy, type CriProxyOptions, startCriProxy } from './cri-proxy.ts';
export { boundedOutput } from './display/bounded-output.ts';
export type { DisplayOptions } from './display/call-display.ts';
