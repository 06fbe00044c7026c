/** The Kubernetes API of a standalone node, served by the node's process. Loaded only if the node has one. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ApiServer,
  CLIENT_CERTIFICATE_LIFE_MS,
  type ImportSource,
  type LocalKubelet,
  startApiServer,
} from '@podwright/api-server';
import { createLogger, type Logger } from '@podwright/base';
import { ClientNetworks } from '@podwright/dns';
import { requireSocketPath, writeFileAtomic, writeFileDurable } from '@podwright/host';
import { AppliedImport, type KubernetesApi } from '@podwright/node-api';
import type { ServiceAddresses } from '@podwright/proxy';
import { apiServerPaths } from '../settings/api-server-paths.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { AdminKubeconfig } from './admin-kubeconfig.ts';
import { ADMINISTRATOR, auditOptions } from './api-server.ts';
import type { ClusterConnection } from './cluster.ts';
import { type ClusterServices, claimAddresses, clientsOf, openClusterServices } from './cluster-services.ts';
import { nodeClaims, startNodeControllers } from './node-controllers.ts';
import { limitStrangers } from './stranger-connections.ts';

/** The connection to the API and the node's Services. The two are closed separately. */
export type StandaloneApi = ClusterConnection & { services: ClusterServices };

/**
 * Starts the API server. The kubelet connects to it as the node, with a node's permissions. Pods reach it at the cluster IP of the Service
 * `kubernetes`, which is added to the host before the server starts.
 */
export async function startStandaloneApi(config: NodeConfig): Promise<StandaloneApi> {
  requireSocketPath(apiServerPaths(config).socketPath);
  const logger = createLogger({ name: 'apiserver', level: config.log_level });
  const addresses = await claimAddresses(config, logger);
  try {
    return await startAt(addresses, config, logger);
  } catch (error) {
    await addresses?.release({ rulesStay: true }); // those of an earlier process, whose pods may still run
    throw error;
  }
}

async function startAt(
  addresses: ServiceAddresses | undefined,
  config: NodeConfig,
  logger: Logger,
): Promise<StandaloneApi> {
  const { directory, socketPath, kubeconfig, ofNode } = apiServerPaths(config);
  const { listen, audit_log: auditLog, audit_policy: auditPolicy } = config.api;
  const audit = auditOptions({ auditLog, auditPolicy });
  const { node_name: nodeName } = config;
  const own: { kubelet?: LocalKubelet } = {};
  const localKubelet = () => own.kubelet;
  const strangers = listen && limitStrangers();
  const atClusterIp = addresses && { strangers: limitStrangers(new ClientNetworks(clientsOf(config))) };
  const server = await startApiServer({
    ...{ directory, socketPath, listen, strangers, atClusterIp, audit, localKubelet, logger },
    imports: appliedImport(config, { directory, ofNode }, logger),
    untaintsNodes: true,
    serviceRange: config.api.service_cidr,
    maxBytes: config.api.max_objects_size,
    durability: config.api.durability,
  });
  const reachKubelet: ClusterConnection['reachKubelet'] = (serve) => {
    own.kubelet = serve && { nodeName, serve };
  };
  try {
    const renewal = await writeKubeconfig(server, kubeconfig, logger);
    const controllers = startNodeControllers(config, server, logger);
    logger.info({ url: server.url, socket: socketPath }, 'the Kubernetes API is available');
    const claims = { list: nodeClaims(config.root, server), isEnforced: config.api.limit_claims ?? true };
    const connection = connectionTo(server, { nodeName, claims }, renewal);
    const services = await openClusterServices({ config, server, addresses, logger });
    const close = async () => {
      await controllers.stop();
      await connection.close();
    };
    return { ...connection, reachKubelet, services, close };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Returns the objects to import into a new Kubernetes API: those that were applied to the node before it had one. */
function appliedImport(
  config: NodeConfig,
  { directory, ofNode }: { directory: string; ofNode: string },
  logger: Logger,
): ImportSource {
  return new AppliedImport({
    manifestDir: config.manifests,
    kubeletRoot: join(config.root, 'kubelet'),
    nodeName: config.node_name,
    asideDir: join(directory, 'not-moved'),
    begin: () => writeFileDurable(ofNode, ''),
    onAside: (path) => logger.warn({ path }, 'the API has another object of this name; the file was set aside'),
  });
}

/**
 * Writes the administrator's kubeconfig and keeps it renewed. A kubeconfig cannot refer to a Unix socket, so none is written if the API is
 * served only there.
 */
async function writeKubeconfig(server: ApiServer, path: string, logger: Logger): Promise<Disposable | undefined> {
  if (server.url === undefined) return void (await rm(path, { force: true }));
  const write = () => writeFileAtomic(path, server.kubeconfig(ADMINISTRATOR));
  return AdminKubeconfig.start({ write, lifeMs: CLIENT_CERTIFICATE_LIFE_MS, logger });
}

function connectionTo(
  server: ApiServer,
  { nodeName, claims }: { nodeName: string; claims: ClusterConnection['options']['claims'] },
  renewal: Disposable | undefined,
): ClusterConnection {
  const client = server.client({
    username: `system:node:${nodeName}`,
    groups: ['system:nodes', 'system:authenticated'],
  });
  const podAccess = { endpoint: server.podEndpoint };
  return {
    options: { client, heartbeatClient: client, eventClient: client, podAccess, isOwnApi: true, claims },
    signServer: async () => () => undefined,
    kubernetesApi: kubernetesApiOf(server),
    close: async () => {
      renewal?.[Symbol.dispose]();
      await server.stop();
    },
  };
}

/** Gives calls administrator permissions, which is safe because only root can open the node's socket. */
function kubernetesApiOf(server: ApiServer): KubernetesApi {
  const calls = server.calls(ADMINISTRATOR);
  return {
    handle: (request, response) => server.handleLocal({ request, response }),
    call: (call) => calls.object(call),
    text: (call) => calls.text(call),
  };
}
