/** Assembles a node's API server: its store, rules, users, certificates, and the controllers it needs. */
import { type Durability, type Registries, type SqliteStore, untilDurable } from '@podwright/api-machinery';
import { describeUndoFailures, type Logger, metricsText, Registry, Undo } from '@podwright/base';
import { type FlowControl, LongRunning } from '@podwright/flow-control';
import type { KubeClient } from '@podwright/kube-client';
import type { Calls } from '@podwright/kube-client/calls';
import type { UserInfo } from '@podwright/kube-kinds';
import { type Aggregation, openAggregation } from './aggregation.ts';
import { type AuditOptions, openAuditLog } from './audit/open-audit-log.ts';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import { kubeconfigText } from './certificates/kubeconfig.ts';
import { ServingCertificates, servingNames } from './certificates/serving-certificate.ts';
import { openFlowControl } from './controllers/keep-flows.ts';
import { ServerHealth } from './health-checks.ts';
import { type ImportSource, importObjects } from './import-objects.ts';
import { DirectCalls } from './in-process-client/direct-calls.ts';
import type { LocalUser } from './in-process-client/direct-exchange.ts';
import { inProcessClient } from './in-process-client/in-process-client.ts';
import { authorityDirectory } from './issue-kubeconfig.ts';
import { countOf } from './metrics/object-metrics.ts';
import { type KubeletConnections, nodeConnector } from './node-connections.ts';
import { openObjects, type ServerObjects } from './open-objects.ts';
import { listenSecurely } from './secure-addresses.ts';
import { servedResources } from './served-resources.ts';
import { MAX_STREAMS, maxWatches } from './server/admit-request.ts';
import { ApiListeners, type SecureAddress, type StrangerConnections } from './server/api-listeners.ts';
import type { ComputedResource } from './server/computed-resource.ts';
import { type CallHandler, type HttpCall, RequestHandler } from './server/request-handler.ts';
import type { RequestObserver } from './server/request-observer.ts';
import type { ServerParts } from './server/server-parts.ts';
import { hostAndPort, reachableHost, urlOf } from './server-address.ts';
import { serverDocuments } from './server-documents.ts';
import { serverMetrics } from './server-metrics.ts';
import { startControllers } from './start-controllers.ts';
import { subresourceHandlers } from './subresource-handlers.ts';
import { usageResources } from './usage/usage-resources.ts';
import { EventEncoder } from './wire/encode-event.ts';
import { SliceTurns } from './wire/slice-turns.ts';

export type ApiServerOptions = {
  /** Directory for the server's persistent data: objects, certificate authority and token keys. */
  directory: string;
  /** Path of the unix socket, whose clients are administrators. */
  socketPath: string;
  /** Where to listen over TLS. Default: the server listens only on the unix socket. */
  listen?: SecureAddress;
  /** Limits TLS connections from unknown clients. */
  strangers?: StrangerConnections;
  /**
   * Set if this host runs a service proxy and has the cluster IP of the Service `kubernetes` as an address. Pods then connect to the
   * cluster IP, on which the server listens unless pods can reach `listen`. `strangers` limits connections from unknown clients there.
   * Default: pods connect to `listen`, if they can.
   */
  atClusterIp?: { strangers: StrangerConnections };
  /** Names to include in the serving certificate, in addition to the server's own. */
  names?: readonly string[];
  /** The range of cluster IPs, or one per IP family, separated by a comma. Default: 10.96.0.0/12. */
  serviceRange?: string;
  logger: Logger;
  durability?: Durability;
  /** Maximum total size of objects as JSON. Default: an eighth of the host's memory, up to 512 MiB. */
  maxBytes?: number;
  /** Options of the audit log. Default: requests are not audited. */
  audit?: AuditOptions;
  /** Objects that predate the server and are moved into its store. */
  imports?: ImportSource;
  /** Whether to remove the not-ready taint from ready nodes. Needed if there is no node lifecycle controller. Default: false. */
  untaintsNodes?: boolean;
  /**
   * Whether a kube-controller-manager runs alongside this server. The server then runs only the controllers that are part of upstream's
   * kube-apiserver, i.e. not garbage collection, namespace deletion, service accounts, certificates and aggregated roles. Default: false.
   */
  hasControllerManager?: boolean;
  now?: () => number;
  /** Wraps the server's request handler. Used by tests to record requests and inject faults. */
  decorate?: (handler: CallHandler) => CallHandler;
} & KubeletConnections;

export type ApiServer = {
  /** URL and port for TLS; undefined if the server does not listen over TLS. */
  url: string | undefined;
  port: number | undefined;
  /** The address and port at which pods reach the server; undefined if they cannot. */
  podEndpoint: { address: string; port: number } | undefined;
  caCertificate: string;
  registries: Registries;
  store: SqliteStore;
  /** Returns a kubeconfig with a new client certificate. */
  kubeconfig: (user: Pick<UserInfo, 'username' | 'groups'>) => string;
  /** Returns an in-process client, which is closed when the server stops. */
  client: (user: LocalUser) => KubeClient;
  /** Makes in-process calls that the client has no function for. They end when the server stops. */
  calls: (user: LocalUser) => Pick<Calls, 'object' | 'text'>;
  /** Handles a request from a connection that only root can open, with administrator rights. */
  handleLocal: (call: HttpCall) => void;
  stop: () => Promise<void>;
};

/** Paths readable without credentials. Nodes joining with a token use them to verify the cluster. */
const ANONYMOUS_PATHS = ['/api/v1/namespaces/kube-public/configmaps/cluster-info'];

/** Starts the server. Rejects with errors from the store and the listeners. */
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
  const { directory, socketPath, listen, strangers, atClusterIp, logger, names = [], now = Date.now } = options;
  const { decorate = (handler) => handler, untaintsNodes = false, hasControllerManager = false } = options;
  const authority = await CertificateAuthority.open(authorityDirectory(directory), now);
  const metrics = new Registry();
  const objects = await openObjects({ ...options, metrics, now }, undo);
  const { schema, store, access, registries, custom, clusterIp } = objects;
  if (options.imports !== undefined) await importObjects(options.imports, { schema, store, now });
  const health = new ServerHealth({ directory, store, now });
  const flowControl = openFlowControl(metrics, store);
  const observers = [serverMetrics(metrics, { schema, store }), ...(await openAudit(options, undo))];
  const connector = nodeConnector(options, { store, authority, now });
  const computed = usageResources({ store, connector, logger, now });
  const aggregation = await openAggregation({ directory, store, metrics, authority, replaceable: computed, now });
  const composed = { ...objects, now, logger, health, metrics, flowControl, observers, computed, aggregation };
  const parts = serverParts(composed, listen);
  const handlers = subresourceHandlers({ ...objects, connector, now });
  const serving: ServerParts = { ...parts, subresources: handlers };
  const clients = localClients(serving, undo);
  const handler = decorate(new RequestHandler(serving));
  const listeners: ApiListeners = new ApiListeners({
    handler,
    logger,
    isExtension: aggregation.isExtension,
    beforeHandshake: () => certificates.check(),
  });
  undo.add('stop the listeners', () => listeners.stop());
  await listeners.listenLocal(socketPath);
  const clientAuthorities = [authority.certificate];
  const certificates = new ServingCertificates({
    authority,
    names: () => servingNames([...names, clusterIp, ...(listen === undefined ? [] : [reachableHost(listen.host)])]),
    replace: (pair) => listeners.replaceCertificate({ ...pair, clientAuthorities }),
    now,
  });
  health.certificates = certificates;
  const certificate = () => ({ ...certificates.start(), clientAuthorities });
  const secure = { listeners, certificate, clusterIp, listen, strangers, atClusterIp };
  const { bound, advertised, endpoint, forPods } = await listenSecurely(secure);
  const url = bound && urlOf(bound);
  const stopControllers = startControllers({
    ...{ schema, registries, store, custom, flowControl, authority, untaintsNodes, hasControllerManager, logger, now },
    aggregation,
    resources: servedResources(schema),
    authorizer: access.authorizer,
    issueToken: (account, secretName) => access.legacyTokens.issue(account, secretName),
    serverUrl: bound && urlOf({ ...bound, host: advertised ?? bound.host }),
    service: { clusterIp, endpoint },
    ended: () => health.controllerEnded(),
  });
  health.controllersStarted();
  undo.add('stop the controllers', stopControllers);
  return {
    url,
    port: bound?.port,
    podEndpoint: forPods && { address: forPods.host, port: forPods.port },
    caCertificate: authority.certificate,
    registries,
    store,
    kubeconfig: ({ username, groups }) =>
      kubeconfigText({
        server: url ?? '',
        caCertificate: authority.certificate,
        user: username,
        pair: authority.client({ commonName: username, organizations: groups }),
      }),
    ...clients,
    handleLocal: (call) => handler.handle(call, { isLocal: true }),
    stop: async () => {
      health.stopping();
      const failures = await undo.run();
      if (failures.length > 0) logger.error({ failures: describeUndoFailures(failures) }, 'stop failed');
    },
  };
}

/** Returns functions that create in-process clients. `undo` closes these clients. */
function localClients(serving: ServerParts, undo: Undo): Pick<ApiServer, 'client' | 'calls'> {
  const clients = new Set<Pick<KubeClient, 'close'>>();
  undo.add('end the clients in this process', () => {
    for (const client of clients) client.close();
  });
  const added = <C extends Pick<KubeClient, 'close'>>(client: C): C => {
    clients.add(client);
    return client;
  };
  return {
    client: (user) => added(inProcessClient(serving, user)),
    calls: (user) => added(new DirectCalls(serving, user)),
  };
}

async function openAudit({ audit, logger, now = Date.now }: ApiServerOptions, undo: Undo): Promise<RequestObserver[]> {
  if (audit === undefined) return [];
  const { observer, close } = await openAuditLog(audit, { logger, now });
  undo.add('write the audit log', close);
  return [observer];
}

type Composed = Pick<ServerObjects, 'schema' | 'store' | 'access' | 'registries' | 'custom'> & {
  now: () => number;
  logger: Logger;
  health: ServerHealth;
  metrics: Registry;
  flowControl: FlowControl;
  observers: readonly RequestObserver[];
  computed: readonly ComputedResource[];
  aggregation: Aggregation;
};

/** Builds the dependencies of request handling, except for the subresource handlers. */
function serverParts(composed: Composed, listen: SecureAddress | undefined) {
  const { schema, store, access, registries, custom, now, logger, health, metrics, flowControl, observers } = composed;
  const { computed, aggregation } = composed;
  const resources = servedResources(schema);
  const served = new Set(resources);
  const documents = serverDocuments({
    schema,
    resources,
    custom,
    computed: computed.map(({ resource }) => resource),
    extensions: aggregation.documents,
    serverAddress: listen === undefined ? 'localhost' : hostAndPort(listen),
    checks: health.checks,
    metrics: () => metricsText(metrics, () => true),
    reportFailure: (failed) => logger.warn(failed, 'a health check failed'),
    keys: access.keys,
  });
  return {
    schema,
    servedResource: (resource) => (served.has(resource) || resource.isCustom ? registries.for(resource) : undefined),
    computed,
    extensions: aggregation.apis,
    endOf: (resource) => custom.endOf(resource),
    documents,
    anonymousPaths: ANONYMOUS_PATHS,
    observers,
    authenticate: (request) => access.authenticator.authenticate(request),
    impersonate: access.impersonate,
    authorizer: access.authorizer,
    encoder: new EventEncoder(),
    sliceTurns: new SliceTurns(),
    flowControl,
    watches: new LongRunning({ maxOfCaller: () => maxWatches(countOf(store, 'nodes')) }),
    streams: new LongRunning({ max: MAX_STREAMS }),
    untilDurable: () => untilDurable(store),
    logger,
    now,
  } satisfies Omit<ServerParts, 'subresources'>;
}
