export { type CriProxy, type CriProxyOptions, startCriProxy } from './cri-proxy.ts';
export { boundedOutput } from './display/bounded-output.ts';
export type { DisplayOptions } from './display/call-display.ts';
export { plainLine } from './display/shown-text.ts';
export { criMethodNames, criMethods } from './methods/cri-methods.ts';
export { type Recording, readRecording } from './recording/read-recording.ts';
export type { Intercept, InterceptedCall } from './script/intercept.ts';
export { parseScript } from './script/parse-script.ts';
