/** Composes the API server of one node: its store, its rules, its users, its certificates and the controllers that it needs. */
import { join } from 'node:path';
import {
  type Allocate,
  type Durability,
  type ObjectStore,
  openSqliteStore,
  Registries,
  type SqliteStore,
  STORE_INDEXES,
} from '@podwright/api-machinery';
import { describeUndoFailures, type Logger, metricsText, Registry, Undo } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { CONVERSIONS, STRATEGIES, type UserInfo } from '@podwright/kube-kinds';
import { Schema } from '@podwright/kube-schema';
import { type Access, openAccess } from './access.ts';
import { defaultAdmission } from './admission/default-plugins.ts';
import { type AuditOptions, openAuditLog } from './audit/open-audit-log.ts';
import { ensureBaseObjects } from './base-objects.ts';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import { kubeconfigText } from './certificates/kubeconfig.ts';
import { ServingCertificates, servingNames } from './certificates/serving-certificate.ts';
import { ServerHealth } from './health-checks.ts';
import { inProcessClient } from './in-process-client/in-process-client.ts';
import { authorityDirectory } from './issue-kubeconfig.ts';
import { type KubeletConnections, nodeConnector } from './node-connections.ts';
import { servedResources } from './served-resources.ts';
import { ApiListeners, type SecureAddress } from './server/api-listeners.ts';
import { type CallHandler, RequestHandler } from './server/request-handler.ts';
import type { RequestObserver } from './server/request-observer.ts';
import type { ServerParts } from './server/server-parts.ts';
import { advertisedAddress, hostAndPort, urlOf } from './server-address.ts';
import { serverDocuments } from './server-documents.ts';
import { serverMetrics } from './server-metrics.ts';
import { AddressRange } from './services/address-range.ts';
import { ServiceAllocator } from './services/service-allocator.ts';
import { startControllers } from './start-controllers.ts';
import { subresourceHandlers } from './subresource-handlers.ts';
import { EventEncoder } from './wire/encode-event.ts';

export type ApiServerOptions = {
  /** Persistent data: the objects, the certificate authority, the keys of tokens. */
  directory: string;
  /** A unix socket, whose clients are administrators. */
  socketPath: string;
  /** Default: only the socket. */
  listen?: SecureAddress;
  /** Further names of the serving certificate. */
  names?: readonly string[];
  /** The IPv4 range of cluster IPs. Default: 10.96.0.0/12. */
  serviceRange?: string;
  logger: Logger;
  durability?: Durability;
  /** Default: no audit log. */
  audit?: AuditOptions;
  /** Whether to assign pods to nodes, because there is no scheduler. Default: false. */
  assignsPods?: boolean;
  now?: () => number;
  /** Returns the handler of all requests, given that of the server. Tests record requests and inject faults with it. */
  decorate?: (handler: CallHandler) => CallHandler;
} & KubeletConnections;

export type ApiServer = {
  /** The URL and the port for TLS; undefined without. */
  url: string | undefined;
  port: number | undefined;
  /** The address and port under which pods reach the server; undefined if they cannot. */
  podEndpoint: { address: string; port: number } | undefined;
  caCertificate: string;
  registries: Registries;
  store: SqliteStore;
  /** A kubeconfig with a new client certificate. */
  kubeconfig: (user: Pick<UserInfo, 'username' | 'groups'>) => string;
  /** A client in this process. It ends with the server. */
  client: (user: UserInfo) => KubeClient;
  stop: () => Promise<void>;
};

const SERVICE_RANGE = '10.96.0.0/12';

/** What clients may read without credentials: how a node that joins with a token verifies the cluster. */
const ANONYMOUS_PATHS = ['/api/v1/namespaces/kube-public/configmaps/cluster-info'];

/** Objects that are not written to disk: they are many and soon obsolete. */
const VOLATILE = ['events', 'leases.coordination.k8s.io'];

/** Starts the server. Rejects with the errors of the store and of the listeners. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const undo = new Undo();
  try {
    return await startParts(options, undo);
  } catch (error) {
    const failures = await undo.run();
    if (failures.length > 0) options.logger.warn({ failures: describeUndoFailures(failures) }, 'undo the start failed');
    throw error;
  }
}

async function startParts(options: ApiServerOptions, undo: Undo): Promise<ApiServer> {
  const { directory, socketPath, listen, logger, durability, names = [], now = Date.now } = options;
  const { decorate = (handler) => handler, assignsPods = false } = options;
  const schema = await Schema.load();
  const authority = await CertificateAuthority.open(authorityDirectory(directory), now);
  const path = join(directory, 'objects.db');
  const store = openSqliteStore(path, { indexes: STORE_INDEXES, volatile: VOLATILE, durability });
  undo.add('close the store', () => store.close());
  const access = await openAccess({ directory, store, now });
  const admission = defaultAdmission({ store, now, authorizer: access.authorizer, escalation: access.escalation });
  const range = new AddressRange(options.serviceRange ?? SERVICE_RANGE);
  const services = new ServiceAllocator(store, range);
  const allocations: Record<string, Allocate> = { services: (object, old) => services.allocate(object, old) };
  const kinds = { strategies: STRATEGIES, conversions: CONVERSIONS };
  const registries = new Registries({ schema, ...kinds, store, admission, allocations });
  await ensureBaseObjects({ schema, registries, store, nowMs: now() });
  const health = new ServerHealth({ directory, store, now });
  const metrics = new Registry();
  const observers = [serverMetrics(metrics, { schema, store }), ...(await openAudit(options, undo))];
  const parts = serverParts({ schema, store, access, registries, now, logger, health, metrics, observers }, listen);
  const connector = nodeConnector(options, { store, authority, now });
  const handlers = subresourceHandlers({ registries, store, access, admission, connector, now });
  const serving: ServerParts = { ...parts, subresources: handlers };
  const clients = new Set<KubeClient>();
  undo.add('end the clients in this process', () => {
    for (const client of clients) client.close();
  });
  const listeners = new ApiListeners({ handler: decorate(new RequestHandler(serving)), logger });
  undo.add('stop the listeners', () => listeners.stop());
  await listeners.listenLocal(socketPath);
  const clientAuthorities = [authority.certificate];
  const certificates = new ServingCertificates({
    authority,
    names: () => servingNames(names),
    replace: (pair) => listeners.replaceCertificate({ ...pair, clientAuthorities }),
  });
  health.certificates = certificates;
  const port = listen && (await listeners.listenSecure(listen, { ...certificates.start(), clientAuthorities }));
  const resources = servedResources(schema);
  const caCertificate = authority.certificate;
  const bound = listen && port !== undefined ? { host: listen.host, port } : undefined;
  const url = bound && urlOf(bound);
  const address = bound && advertisedAddress(bound.host);
  const serverUrl = bound && urlOf({ ...bound, host: address ?? bound.host });
  const service = { clusterIp: range.first, endpoint: bound && { address, port: bound.port } };
  const { authorizer } = access;
  const served = { schema, resources, registries, store };
  const ended = () => health.controllerEnded();
  const stopControllers = startControllers({
    ...served,
    authority,
    authorizer,
    serverUrl,
    service,
    ended,
    assignsPods,
    logger,
    now,
  });
  health.controllersStarted();
  undo.add('stop the controllers', stopControllers);
  undo.add('stop the renewal of the serving certificate', () => certificates[Symbol.dispose]());
  return {
    url,
    port,
    podEndpoint: address === undefined || bound === undefined ? undefined : { address, port: bound.port },
    caCertificate,
    registries,
    store,
    kubeconfig: ({ username, groups }) =>
      kubeconfigText({
        server: url ?? '',
        caCertificate,
        user: username,
        pair: authority.client({ commonName: username, organizations: groups }),
      }),
    client: (user) => {
      const client = inProcessClient(serving, user);
      clients.add(client);
      return client;
    },
    stop: async () => {
      health.stopping();
      const failures = await undo.run();
      if (failures.length > 0) logger.error({ failures: describeUndoFailures(failures) }, 'stop failed');
    },
  };
}

async function openAudit({ audit, logger, now = Date.now }: ApiServerOptions, undo: Undo): Promise<RequestObserver[]> {
  if (audit === undefined) return [];
  const { observer, close } = await openAuditLog(audit, { logger, now });
  undo.add('write the audit log', close);
  return [observer];
}

type Composed = Pick<ServerParts, 'schema' | 'now' | 'logger'> & {
  store: ObjectStore;
  access: Access;
  registries: Registries;
  health: ServerHealth;
  metrics: Registry;
  observers: readonly RequestObserver[];
};

function serverParts(
  { schema, access, registries, now, logger, health, metrics, observers }: Composed,
  listen: SecureAddress | undefined,
) {
  const resources = servedResources(schema);
  const served = new Set(resources);
  const documents = serverDocuments({
    schema,
    resources,
    serverAddress: listen === undefined ? 'localhost' : hostAndPort(listen),
    checks: health.checks,
    metrics: () => metricsText(metrics, () => true),
    reportFailure: (failed) => logger.warn(failed, 'a health check failed'),
    keys: access.keys,
  });
  return {
    schema,
    servedResource: (resource) => (served.has(resource) ? registries.for(resource) : undefined),
    documents,
    anonymousPaths: ANONYMOUS_PATHS,
    observers,
    authenticate: (request) => access.authenticator.authenticate(request),
    impersonate: access.impersonate,
    authorizer: access.authorizer,
    encoder: new EventEncoder(),
    logger,
    now,
  } satisfies Omit<ServerParts, 'subresources'>;
}
