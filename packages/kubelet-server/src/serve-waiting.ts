import { createServer } from 'node:http';
import { type Logger, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { listenUnix } from '@podwright/host';
import type { KubeletServerOptions } from '@podwright/kubelet-configuration';
import { healthListener, kubeletChecks } from './health-routes.ts';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_CONNECTIONS } from './http/limits.ts';
import { sendError } from './http/status-answer.ts';
import { closeServer, listenOn, plainServer } from './http-server.ts';

export type WaitingApiOptions = {
  socketPath: string;
  server: Pick<KubeletServerOptions, 'healthzPort' | 'healthzBindAddress'>;
  /** Why the kubelet is not running yet, as shown to clients. */
  reason: string;
  logger: Logger;
};

/**
 * Serves the endpoints of a kubelet that is not running yet, until it is closed: `/healthz` on its port and all requests on the Unix socket
 * fail with the given reason. Throws `already_exists` if another daemon uses the socket, or another error if it cannot listen on the
 * healthz port.
 */
export async function serveWaiting(options: WaitingApiOptions): Promise<{ close: () => Promise<void> }> {
  const { socketPath, server, reason, logger } = options;
  const health = healthListener(kubeletChecks({ unhealthyReason: reason }));
  const local = createServer((request, response) => answer(health, reason, { request, response }));
  local.maxConnections = MAX_CONNECTIONS;
  const socket = await listenUnix(local, socketPath, PRIVATE_FILE);
  const port = plainServer(health);
  const close = async () => {
    await socket.remove();
    await Promise.all([local, port].map(closeServer));
  };
  try {
    if (server.healthzPort > 0)
      await listenOn(port, { host: server.healthzBindAddress, port: server.healthzPort }, logger);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

type Exchange = { request: Parameters<HttpListener['handle']>[0]; response: Parameters<HttpListener['handle']>[1] };

function answer(health: HttpListener, reason: string, { request, response }: Exchange): void {
  if (/^\/healthz(?:[/?]|$)/.test(request.url ?? '')) return health.handle(request, response);
  request.resume();
  sendError(response, new PodwrightError('unavailable', reason));
}
