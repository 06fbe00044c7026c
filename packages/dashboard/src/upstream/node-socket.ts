import { Agent } from 'node:http';
import { MAX_SHARED_CONNECTIONS } from '../limits.ts';
import type { ApiServer } from './api-server.ts';

/** Returns the API server of a Podwright node, accessed through the node's socket. Its users are administrators (decision 031). */
export function nodeSocket(socketPath: string): ApiServer {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SHARED_CONNECTIONS });
  return {
    name: socketPath,
    namespace: 'default',
    prefix: '',
    isNode: true,
    authorization: { header: () => undefined },
    connection: async (dedicated) => ({
      secure: false,
      options: { socketPath, host: 'localhost', agent: dedicated ? false : agent },
    }),
    close: () => agent.destroy(),
  };
}
