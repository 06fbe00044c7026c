import type { KubeClient } from '@podwright/kube-client';
import { ApiClient } from '@podwright/kube-client/calls';
import type { ServerParts } from '../server/server-parts.ts';
import { DirectCalls } from './direct-calls.ts';
import type { LocalUser } from './direct-exchange.ts';

/**
 * Creates a client for a user in the server's process. Its calls are authorized, admitted and answered by the same functions as requests over
 * HTTP, but neither the call nor its answer is encoded or sent.
 */
export function inProcessClient(parts: ServerParts, user: LocalUser): KubeClient {
  const calls = new DirectCalls(parts, user);
  return new ApiClient(calls, { reconnect: () => undefined, close: () => calls.close() });
}
