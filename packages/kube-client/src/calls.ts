/** Exports for clients that call the API server without HTTP, such as that of a kubelet running in the API server's process. */
export { ApiClient } from './client/api-client.ts';
export type { Call, Calls, WatchCallOptions } from './client/calls.ts';
export { repeatedCall, withRepeats } from './client/repeats.ts';
export { statusOfAnswer } from './client/status-of-answer.ts';
export { USER_AGENT } from './client/user-agent.ts';
