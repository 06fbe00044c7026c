import { type Logger, silentLogger } from '@podwright/base';
import type { Kubeconfig } from '@podwright/kube-client';
import { DashboardServer } from './dashboard-server.ts';
import { readPage } from './files/built-page.ts';
import type { ApiServer } from './upstream/api-server.ts';
import { kubeconfigServer } from './upstream/kubeconfig-server.ts';
import { nodeSocket } from './upstream/node-socket.ts';

export type DashboardOptions = {
  /** The API server to show: the one in a kubeconfig, or that of a node, given the path of its socket. */
  from: { kubeconfig: Kubeconfig } | { socketPath: string };
  /**
   * The namespace to show first. Default: all namespaces, or the kubeconfig context's namespace if the user may not list pods in all of
   * them.
   */
  namespace?: string;
  /** The IP address and port to listen on. Port 0 selects a free port. */
  listen: { host: string; port: number };
  logger?: Logger;
};

export type Dashboard = {
  /** Returns a new link, which works once and expires after five minutes. */
  link(): string;
  /** Ends all sessions and stops the server. */
  close(): Promise<void>;
};

/**
 * Starts the dashboard's server. Rejects with `failed_precondition` if the page has not been built, and with `unavailable` if the address
 * is in use.
 */
export async function startDashboard({
  from,
  listen,
  namespace,
  logger = silentLogger,
}: DashboardOptions): Promise<Dashboard> {
  const page = await readPage();
  const api: ApiServer = 'kubeconfig' in from ? kubeconfigServer(from.kubeconfig) : nodeSocket(from.socketPath);
  const server = new DashboardServer({ api, page, listen, namespace, logger });
  try {
    await server.listen();
  } catch (error) {
    api.close();
    throw error;
  }
  return server;
}
