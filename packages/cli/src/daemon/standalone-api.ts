/** The Kubernetes API of a standalone node, served by the node's process. Loaded only on a node that has it. */
import { rm } from 'node:fs/promises';
import { type ApiServer, startApiServer } from '@podwright/api-server';
import { createLogger } from '@podwright/base';
import { requireSocketPath, writeFileAtomic } from '@podwright/host';
import { apiServerPaths } from '../settings/api-server-paths.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { ADMINISTRATOR } from './api-server.ts';
import type { ClusterConnection } from './cluster.ts';

/** Starts the API server. The kubelet joins it as the node, with the rights of a node. */
export async function startStandaloneApi(config: NodeConfig): Promise<ClusterConnection> {
  const { directory, socketPath, kubeconfig } = apiServerPaths(config);
  requireSocketPath(socketPath);
  const logger = createLogger({ name: 'apiserver', level: config.log_level });
  const { listen } = config.api;
  const server = await startApiServer({ directory, socketPath, listen, assignsPods: true, logger });
  if (server.url === undefined) await rm(kubeconfig, { force: true });
  else await writeFileAtomic(kubeconfig, server.kubeconfig(ADMINISTRATOR));
  logger.info({ url: server.url, socket: socketPath }, 'the Kubernetes API is available');
  return connectionTo(server, config.node_name);
}

function connectionTo(server: ApiServer, nodeName: string): ClusterConnection {
  const client = server.client({
    username: `system:node:${nodeName}`,
    groups: ['system:nodes', 'system:authenticated'],
  });
  const podAccess = { endpoint: server.podEndpoint };
  return {
    options: { client, heartbeatClient: client, eventClient: client, podAccess },
    signServer: async () => () => undefined,
    close: () => server.stop(),
  };
}
