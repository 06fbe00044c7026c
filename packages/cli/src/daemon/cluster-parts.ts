/** Runs parts of the node as separate daemons against any API server: `podwright controllers` and `podwright proxy`. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createLogger, ignoreFailure } from '@podwright/base';
import { runAsLeader, startControllers } from '@podwright/controllers';
import { createKubeClient, readKubeconfig } from '@podwright/kube-client';
import { startProxy } from '@podwright/proxy';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { CONTROLLERS } from './controllers.ts';
import { openMetrics } from './metrics.ts';

/** The Lease held by the process that runs the controllers. */
const LEASE = { namespace: 'kube-system', name: 'podwright-controllers' };

/** Runs the workload controllers until a signal stops the process. They run only while this process holds the Lease. */
export async function runControllers(config: NodeConfig, kubeconfig: string): Promise<void> {
  const { stopped } = beginDaemon(config);
  const logger = createLogger({ name: 'controllers', level: config.log_level });
  const client = createKubeClient(await readKubeconfig(kubeconfig, { log: logger }));
  await using _ = await openMetrics(config);
  const stopping = new AbortController();
  const identity = `${hostname()}_${randomUUID()}`;
  const work = async (signal: AbortSignal) => {
    const running = startControllers({ client, controllers: CONTROLLERS, logger });
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await running.stop();
  };
  const elected = runAsLeader({ client, lease: LEASE, identity, logger, signal: stopping.signal }, work);
  await stopped;
  stopping.abort();
  await elected;
  client.close();
}

/** Implements Services on this host in place of kube-proxy, until a signal stops the proxy. Its nf_tables rules remain afterwards. */
export async function runProxy(config: NodeConfig, kubeconfig: string): Promise<void> {
  const { stopped } = beginDaemon(config);
  const logger = createLogger({ name: 'proxy', level: config.log_level });
  const client = createKubeClient(await readKubeconfig(kubeconfig, { log: logger }));
  const proxy = startProxy({ client, nodeName: config.node_name, logger });
  await using _ = await openMetrics(config, () => proxy.problem());
  ignoreFailure(proxy.synced, 'it rejects if the proxy is stopped before; problems are logged');
  await stopped;
  await proxy.stop();
  client.close();
}
