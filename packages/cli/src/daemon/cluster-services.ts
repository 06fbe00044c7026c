/** Services, their names and network policies on a standalone node with a Kubernetes API: rules of nf_tables, and a DNS server. */
import { readdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { ApiServer } from '@podwright/api-server';
import { errorMessage, ignoreFailure, type Logger } from '@podwright/base';
import { type DnsServer, startDns } from '@podwright/dns';
import type { KubeObject } from '@podwright/kube-api';
import { isApiStatus, type KubeClient, SERVICES } from '@podwright/kube-client';
import { type RunningProxy, startNetworkPolicies, startProxy } from '@podwright/proxy';
import { addAddress, type LinkAddress, NetlinkSockets, removeAddress } from '@podwright/system';
import type { NodeConfig } from '../settings/node-config.ts';
import { lockServiceRange } from './service-range.ts';

/** The tenth address of the default service range, as in clusters of kubeadm. */
const DNS_OFFSET = 10;
export const CLUSTER_DOMAIN = 'cluster.local';
/** Nodes of one host may not serve ranges that overlap: each holds the lock in a directory named after its range. */
const LOCKS = '/run/podwright-services';
/** The index of the loopback interface. */
const LOOPBACK = 1;
/** Pods of a CNI network: their subnet is not known. */
const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];
/** A proxy leaves a Service with this label to another one. The address of the DNS server is on the host. */
const OTHER_PROXY = { 'service.kubernetes.io/service-proxy-name': 'podwright.dev' };
const USER = { username: 'system:kube-proxy', groups: ['system:masters', 'system:authenticated'] };

export type ClusterServices = {
  /** The name server of pods; undefined if names cannot be served. */
  dnsAddress: string | undefined;
  /** Ends the servers. Unless the state of the host is removed too, the rules stay for the pods that go on. */
  close(options: { removeHostState: boolean }): Promise<void>;
};

/** Starts all of them. Pods also work without Services, so a failure of these is logged. */
export async function openClusterServices(
  config: NodeConfig,
  server: ApiServer,
  logger: Logger,
): Promise<ClusterServices> {
  const client = server.client(USER);
  const policies = policiesOf(config, client, logger);
  const services = await openServices(config, client, logger);
  return {
    dnsAddress: services?.dnsAddress,
    close: async ({ removeHostState }) => {
      await policies.stop({ removeRules: removeHostState });
      await services?.close({ removeHostState });
    },
  };
}

function policiesOf({ node_name: nodeName, network }: NodeConfig, client: KubeClient, logger: Logger): RunningProxy {
  const { bridge } = network;
  const policies = startNetworkPolicies({ client, nodeName, bridge, logger, table: `podwright-policies-${bridge}` });
  ignoreFailure(policies.synced, 'it rejects if it is stopped before; problems are logged');
  return policies;
}

/** Starts the proxy and the DNS server, unless another node of the host serves the range. */
async function openServices(
  config: NodeConfig,
  client: KubeClient,
  logger: Logger,
): Promise<ClusterServices | undefined> {
  const range = config.api.service_cidr;
  let unlock: () => void;
  try {
    unlock = await lockServiceRange(LOCKS, range);
  } catch (error) {
    const advice = 'Services and their names do not work; give this node a service_cidr of its own in the table api';
    logger.warn({ range, error: errorMessage(error) }, advice);
    return undefined;
  }
  const proxy = proxyOf(config, client, logger);
  const dns = await dnsOf(config, client, logger);
  return {
    dnsAddress: dns?.address,
    close: async ({ removeHostState }) => {
      await proxy.stop({ removeRules: removeHostState });
      await dns?.close();
      unlock();
    },
  };
}

function proxyOf({ node_name: nodeName, network, api }: NodeConfig, client: KubeClient, logger: Logger): RunningProxy {
  const bridgedCidrs = network.subnet.split(',');
  const table = `podwright-services-${api.service_cidr.replace(/[/:]/g, '-')}`;
  const ranges = { podCidrs: bridgedCidrs, bridgedCidrs, serviceCidrs: [api.service_cidr] };
  const proxy = startProxy({ client, nodeName, logger, ...ranges, bridge: network.bridge, table });
  ignoreFailure(proxy.synced, 'it rejects if the proxy is stopped before; problems are logged');
  return proxy;
}

/** Serves names at an address of the service range, which the host gets on its loopback interface. */
async function dnsOf(config: NodeConfig, client: KubeClient, logger: Logger) {
  const address = dnsAddressOf(config.api.service_cidr);
  const socket = new NetlinkSockets().open('route');
  const link: LinkAddress = { linkIndex: LOOPBACK, address, prefixLength: 32 };
  let isOwn = false;
  const withdraw = async () => {
    try {
      if (isOwn) await socket.request([removeAddress(link)]);
    } finally {
      socket.close();
    }
  };
  let dns: DnsServer;
  const abort = new AbortController();
  try {
    await socket.request([addAddress(link)]); // one that exists was left by an earlier process: this one holds the lock
    isOwn = true;
    const options = { address, domain: CLUSTER_DOMAIN, upstream: '/etc/resolv.conf', clients: clientsOf(config) };
    dns = await startDns({ client, ...options, logger, signal: abort.signal });
    await reserve(client, address);
  } catch (error) {
    logger.warn({ address, error: errorMessage(error) }, 'names of Services cannot be served');
    abort.abort();
    await withdraw();
    return undefined;
  }
  return {
    address,
    close: async () => {
      await dns.close();
      await withdraw();
    },
  };
}

export function dnsAddressOf(range: string): string {
  const bytes = range.split('/')[0]!.split('.').map(Number);
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0) + DNS_OFFSET;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

function clientsOf({ network }: NodeConfig): string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
  return [...network.subnet.split(','), ...own, ...(hasCniNetwork(network.cni_conf_dir) ? PRIVATE_NETWORKS : [])];
}

function hasCniNetwork(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => /\.(conf|conflist|json)$/.test(name));
  } catch {
    return false;
  }
}

/** Creates the Service of the DNS server, so that no other Service gets its address, and clients find it where clusters have it. */
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
  const existing = await client.get<KubeObject>(SERVICES, place).catch((error: unknown) => {
    if (!isApiStatus(error, 404)) throw error;
    return undefined;
  });
  if (existing === undefined) await client.create(SERVICES, service);
}
