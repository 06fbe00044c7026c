import { Agent } from 'node:http';
import { MAX_SHARED_CONNECTIONS } from '../limits.ts';
import type { ApiServer } from './api-server.ts';

/** The API server of a Podwright node, through the node's socket: with the rights of an administrator (decision 031). */
export function nodeSocket(socketPath: string): ApiServer {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SHARED_CONNECTIONS });
  return {
    name: socketPath,
    namespace: 'default',
    prefix: '',
    isNode: true,
    authorization: { header: () => undefined },
    connection: async (own) => ({
      secure: false,
      options: { socketPath, host: 'localhost', agent: own ? false : agent },
    }),
    close: () => agent.destroy(),
  };
}
