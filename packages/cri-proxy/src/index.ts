export { type CriProxy, type CriProxyOptions, startCriProxy } from './cri-proxy.ts';
export { boundedOutput } from './display/bounded-output.ts';
export type { DisplayOptions } from './display/call-display.ts';
export { criMethodNames } from './methods/cri-methods.ts';
export { parseScript } from './script/parse-script.ts';
