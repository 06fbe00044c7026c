/** Services, their DNS names and network policies on a standalone node with a Kubernetes API: nf_tables rules and a DNS server. */
import { readdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { ApiServer } from '@podwright/api-server';
import { errorMessage, ignoreFailure, type Logger, Undo } from '@podwright/base';
import { type DnsServer, startDns } from '@podwright/dns';
import type { KubeObject } from '@podwright/kube-api';
import { isApiStatus, type KubeClient, SERVICES } from '@podwright/kube-client';
import {
  type RunningProxy,
  removeLeftClaims,
  ServiceAddresses,
  startNetworkPolicies,
  startProxy,
} from '@podwright/proxy';
import type { NodeConfig } from '../settings/node-config.ts';
import { SERVICE_CLAIMS } from '../settings/service-claims.ts';

const CLUSTER_DOMAIN = 'cluster.local';
/** Docker's default bridge, used by pods on a Docker Engine that are not on a CNI network. */
const DOCKER_BRIDGE = 'docker0';
/**
 * Private address ranges in which a CNI network's pods are assumed to be, because the network's subnet is unknown: RFC 1918, RFC 6598 and
 * RFC 4193.
 */
const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
/** Makes service proxies ignore a Service. The DNS server listens on its cluster IP directly, so its Service needs no rules. */
const OTHER_PROXY = { 'service.kubernetes.io/service-proxy-name': 'podwright.dev' };
const MAX_LOGGED_ROUTES = 10;
const USER = { username: 'system:kube-proxy', groups: ['system:masters', 'system:authenticated'] };

export type ClusterServices = {
  /** The name server for pods; undefined if DNS is unavailable. */
  dnsAddress: string | undefined;
  /**
   * Stops the service proxy and the DNS server. Unless the host state is removed too, the nf_tables rules remain for the pods that keep
   * running.
   */
  close(options: { removeHostState: boolean }): Promise<void>;
};

/**
 * Claims the two addresses in the Service range that the node itself uses, for its API and its DNS server. Logs failures and returns
 * `undefined`, since pods also work without Services.
 */
export async function claimAddresses(config: NodeConfig, logger: Logger): Promise<ServiceAddresses | undefined> {
  const range = config.api.service_cidr;
  try {
    const places = { root: config.root, directory: SERVICE_CLAIMS };
    const addresses = await ServiceAddresses.claim({
      ...{ ...places, ranges: range.split(','), tables: tablesOf(config), logger },
    });
    const { routedElsewhere } = addresses;
    if (routedElsewhere.length > 0)
      logger.warn(
        { range, routes: routedElsewhere.slice(0, MAX_LOGGED_ROUTES) },
        'the host has routes to addresses that Services may get',
      );
    return addresses;
  } catch (error) {
    const advice =
      'Services and their names do not work, and pods cannot reach the Kubernetes API at its cluster IP; give this node another service_cidr in the table api';
    logger.warn({ range, error: errorMessage(error) }, advice);
    await removeLeftClaims(SERVICE_CLAIMS, config.root, logger);
    return undefined;
  }
}

/** Names of a node's nf_tables tables. */
const tablesOf = ({ network, api }: NodeConfig) => ({
  servicesTable: `podwright-services-${api.service_cidr.replace(/[/:,]/g, '-')}`,
  policiesTable: `podwright-policies-${network.bridge}`,
});

/** Dependencies of a node's Services. */
export type ClusterServicesParts = {
  config: NodeConfig;
  server: ApiServer;
  /** The claimed Service addresses, which are released on close. If unset, only network policies are enforced. */
  addresses: ServiceAddresses | undefined;
  logger: Logger;
};

/** Starts enforcing network policies and, if there are addresses, the service proxy and the DNS server. */
export async function openClusterServices(parts: ClusterServicesParts): Promise<ClusterServices> {
  const { config, server, addresses, logger } = parts;
  const client = server.client(USER);
  const policies = policiesOf(config, client, logger);
  const proxy = addresses && proxyOf(config, client, logger);
  const dns = addresses && (await dnsOf(config, client, { address: addresses.dns, logger }));
  return {
    dnsAddress: dns && addresses?.dns,
    close: ({ removeHostState }) => closeAll({ policies, proxy, dns, addresses }, removeHostState),
  };
}

type Stopped = Pick<RunningProxy, 'stop'>;

type Closed = {
  policies: Stopped;
  proxy: Stopped | undefined;
  dns: Pick<DnsServer, 'close'> | undefined;
  addresses: Pick<ServiceAddresses, 'release'> | undefined;
};

/**
 * Stops the service proxy, the DNS server and the network policies, and releases the Service addresses, even if some steps fail. Rejects
 * with the first error.
 */
export async function closeAll({ policies, proxy, dns, addresses }: Closed, removeHostState: boolean): Promise<void> {
  const undo = new Undo();
  let rulesStay = !removeHostState;
  const stop = async (part: Stopped | undefined) => {
    try {
      await part?.stop({ removeRules: removeHostState });
    } catch (error) {
      rulesStay = true; // their record stays, too: the next start removes them
      throw error;
    }
  };
  undo.add('remove the addresses', () => addresses?.release({ rulesStay }));
  undo.add('close the DNS server', () => dns?.close());
  undo.add('stop the proxy', () => stop(proxy));
  undo.add('stop network policies', () => stop(policies));
  const [failure] = await undo.run();
  if (failure !== undefined) throw failure.error;
}

function policiesOf(config: NodeConfig, client: KubeClient, logger: Logger): RunningProxy {
  const { node_name: nodeName, network } = config;
  const table = tablesOf(config).policiesTable;
  const policies = startNetworkPolicies({ client, nodeName, bridge: network.bridge, logger, table });
  ignoreFailure(policies.synced, 'it rejects if it is stopped before; problems are logged');
  return policies;
}

function proxyOf(config: NodeConfig, client: KubeClient, logger: Logger): RunningProxy {
  const { node_name: nodeName, network, api } = config;
  const bridgedCidrs = network.subnet.split(',');
  const table = tablesOf(config).servicesTable;
  const ranges = { podCidrs: bridgedCidrs, bridgedCidrs, serviceCidrs: api.service_cidr.split(',') };
  const proxy = startProxy({ client, nodeName, logger, ...ranges, bridge: network.bridge, table });
  ignoreFailure(proxy.synced, 'it rejects if the proxy is stopped before; problems are logged');
  return proxy;
}

type DnsParts = { address: string; logger: Logger };

/** Starts the DNS server on an address of the host. Logs failures and returns `undefined`. */
async function dnsOf(
  config: NodeConfig,
  client: KubeClient,
  { address, logger }: DnsParts,
): Promise<DnsServer | undefined> {
  const abort = new AbortController();
  try {
    const options = { address, domain: CLUSTER_DOMAIN, upstream: '/etc/resolv.conf', clients: clientsOf(config) };
    const dns = await startDns({ client, ...options, logger, signal: abort.signal });
    await reserve(client, address);
    return dns;
  } catch (error) {
    logger.warn({ address, error: errorMessage(error) }, 'names of Services cannot be served');
    abort.abort();
    return undefined;
  }
}

/** Returns the addresses and networks of the host and its pods. Servers on Service addresses refuse all other clients. */
export function clientsOf(config: NodeConfig): string[] {
  const interfaces = networkInterfaces();
  const own = Object.values(interfaces).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
  const docker = config.container_runtime === 'docker' ? (interfaces[DOCKER_BRIDGE] ?? []) : [];
  return [
    ...config.network.subnet.split(','),
    ...own,
    ...docker.flatMap(({ cidr }) => cidr ?? []),
    ...(hasCniNetwork(config) ? PRIVATE_NETWORKS : []),
  ];
}

function hasCniNetwork({ network, container_runtime: runtime, dockershim }: NodeConfig): boolean {
  if (runtime === 'docker' && dockershim.network_plugin === 'cni') return true;
  try {
    return readdirSync(network.cni_conf_dir).some((name) => /\.(conf|conflist|json)$/.test(name));
  } catch {
    return false;
  }
}

type DnsServiceObject = KubeObject & { spec?: { clusterIP?: string } };

/**
 * Creates the DNS server's Service, so that no other Service gets its address and clients find it where they expect it in a cluster.
 * Recreated after a change of the Service range, because the address is immutable.
 */
async function reserve(client: KubeClient, clusterIP: string): Promise<void> {
  const labels = { ...OTHER_PROXY, 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS' };
  const ports = ['UDP', 'TCP'].map((protocol) => ({
    name: protocol === 'UDP' ? 'dns' : 'dns-tcp',
    port: 53,
    protocol,
  }));
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system', labels },
    ...{ spec: { clusterIP, ports } },
  };
  const place = { namespace: 'kube-system', name: 'kube-dns' };
  const existing = await client.get<DnsServiceObject>(SERVICES, place).catch((error: unknown) => {
    if (!isApiStatus(error, 404)) throw error;
    return undefined;
  });
  const [label] = Object.keys(OTHER_PROXY);
  const isOwn = existing?.metadata.labels?.[label!] !== undefined;
  if (existing !== undefined && (!isOwn || existing.spec?.clusterIP === clusterIP)) return;
  if (existing !== undefined) await client.delete(SERVICES, place);
  await client.create(SERVICES, service);
}
