import type { KubeClient } from '@podwright/kube-client';
import { ApiClient } from '@podwright/kube-client/calls';
import type { ServerParts } from '../server/server-parts.ts';
import { DirectCalls } from './direct-calls.ts';
import type { LocalUser } from './direct-exchange.ts';

/**
 * Creates a client for a user in the server's process. Calls go through the same authorization, admission and handlers as HTTP requests,
 * but neither they nor their responses are encoded or sent.
 */
export function inProcessClient(parts: ServerParts, user: LocalUser): KubeClient {
  const calls = new DirectCalls(parts, user);
  return new ApiClient(calls, { reconnect: () => undefined, close: () => calls.close() });
}
