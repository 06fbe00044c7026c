import type { KubeObject } from '@podwright/kube-api';
import { AGE, type Column, type KindTables, kindTable, NAME, NONE, shortList, text, wide } from './column.ts';
import { compare, labelsText } from './selector-text.ts';

/** A load balancer's status: the addresses where it can be reached. */
export type LoadBalancer = { ingress?: { ip?: string; hostname?: string }[] };

type Service = KubeObject & {
  spec: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    externalIPs?: string[];
    externalName?: string;
    ports?: { port: number; nodePort?: number; protocol?: string }[];
    selector?: Record<string, string>;
  };
  status?: { loadBalancer?: LoadBalancer };
};

const SERVICE: Column<Service>[] = [
  NAME,
  text('Type', 'How the service is reached', ({ spec }) => spec.type ?? ''),
  text('Cluster-IP', 'First IP address in the cluster', ({ spec }) => spec.clusterIPs?.[0] || spec.clusterIP || NONE),
  text('External-IP', 'Addresses outside of the cluster', externalAddresses),
  text('Port(s)', 'Ports, with those of the nodes', ({ spec }) => (spec.ports ?? []).map(portText).join(',') || NONE),
  AGE,
  wide(text('Selector', 'Labels by which its pods are selected', ({ spec }) => labelsText(spec.selector))),
];

function externalAddresses({ spec: { type, externalIPs = [], externalName }, status }: Service): string {
  if (type === 'ExternalName') return externalName ?? '';
  if (type === 'ClusterIP' || type === 'NodePort') return externalIPs.join(',') || NONE;
  if (type !== 'LoadBalancer') return '<unknown>';
  return [...balancerAddresses(status?.loadBalancer), ...externalIPs].join(',') || '<pending>';
}

/** Returns the load balancer's addresses, sorted and without duplicates. */
export function balancerAddresses({ ingress = [] }: LoadBalancer = {}): string[] {
  const addresses = ingress.flatMap(({ ip, hostname }) => ip || hostname || []);
  return [...new Set(addresses)].sort(compare);
}

function portText({ port, nodePort = 0, protocol = 'TCP' }: { port: number; nodePort?: number; protocol?: string }) {
  return nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}

type Endpoints = KubeObject & { subsets?: { addresses?: { ip: string }[]; ports?: { port: number }[] }[] };

const ENDPOINTS: Column<Endpoints>[] = [
  NAME,
  text('Endpoints', 'Ready addresses, with their ports', ({ subsets = [] }) =>
    shortList(subsets.flatMap(readyAddresses), { empty: subsets.length === 0 ? NONE : '' }),
  ),
  AGE,
];

/** Returns every combination of ready addresses and ports; only the addresses if a headless service has no ports. */
function readyAddresses({ addresses = [], ports = [] }: NonNullable<Endpoints['subsets']>[number]): string[] {
  if (ports.length === 0) return addresses.map(({ ip }) => ip);
  return ports.flatMap(({ port }) =>
    addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
  );
}

type EndpointSlice = KubeObject & {
  addressType: string;
  ports?: { port?: number; name?: string }[];
  endpoints?: { addresses?: string[] }[];
};

const ENDPOINT_SLICE: Column<EndpointSlice>[] = [
  NAME,
  text('AddressType', 'Kind of its addresses', ({ addressType }) => addressType ?? ''),
  text('Ports', 'Ports of each endpoint', ({ ports }) =>
    shortList((ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'))),
  ),
  text('Endpoints', 'Addresses of the endpoints', ({ endpoints }) =>
    shortList((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  ),
  AGE,
];

export const SERVICES: KindTables = {
  Service: kindTable(SERVICE),
  Endpoints: kindTable(ENDPOINTS),
  'EndpointSlice.discovery.k8s.io': kindTable(ENDPOINT_SLICE),
};
