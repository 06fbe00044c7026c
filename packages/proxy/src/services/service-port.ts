import { isIP } from 'node:net';
import type { IpVersion } from '@podwright/system';
import { ofFamily } from './node-facts.ts';
import type { ServiceObject, ServicePortSpec } from './objects.ts';

/** A Service's port for one IP family. */
export type ServicePort = {
  /** `NAMESPACE/NAME:PORT`, for display. */
  name: string;
  version: IpVersion;
  portName: string;
  /** Protocol name as in the API, such as `TCP`. */
  protocol: Protocol;
  port: number;
  clusterIp: string;
  externalIps: string[];
  loadBalancerIps: string[];
  /** CIDR blocks that may reach the load balancer IPs; empty for all. */
  sourceRanges: string[];
  nodePort: number | undefined;
  isInternalLocal: boolean;
  isExternalLocal: boolean;
  /** Client IP affinity: how long a client without new connections is remembered. */
  affinityMs: number | undefined;
};

export type Protocol = keyof typeof PROTOCOL_NUMBERS;

/** Protocol numbers (IANA). */
export const PROTOCOL_NUMBERS = { TCP: 6, UDP: 17, SCTP: 132 } as const;

const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Returns a Service's ports for each IP family in which it has a cluster IP. Headless and ExternalName Services have none. */
export function servicePortsOf(service: ServiceObject): ServicePort[] {
  const { spec = {} } = service;
  if (spec.type === 'ExternalName' || !hasClusterIp(spec.clusterIP)) return [];
  const clusterIps = spec.clusterIPs ?? [spec.clusterIP];
  return ([4, 6] as const).flatMap((version) => {
    const clusterIp = clusterIps.find((address) => isIP(address) === version);
    if (clusterIp === undefined) return [];
    const shared = { version, clusterIp, ...addressesOf(service, version) }; // once: there may be many addresses and ports
    return (spec.ports ?? []).flatMap((port) => portOf(service, port, shared));
  });
}

type Addresses = Pick<ServicePort, 'externalIps' | 'loadBalancerIps' | 'sourceRanges'> & {
  /** Load balancer IPs that are restricted to certain ports, each with its ports, such as `80/TCP`. */
  ofPorts: { ip: string; ports: ReadonlySet<string> }[];
};

function addressesOf({ spec = {}, status }: ServiceObject, version: IpVersion): Addresses {
  const ingress = (status?.loadBalancer?.ingress ?? []).filter(({ ipMode = 'VIP' }) => ipMode === 'VIP');
  return {
    externalIps: ofFamily(spec.externalIPs ?? [], version),
    loadBalancerIps: ofFamily(
      ingress.flatMap(({ ip = '', ports }) => (ports === undefined ? ip : [])),
      version,
    ),
    ofPorts: ingress.flatMap(({ ip = '', ports }) => {
      const isOwn = ports !== undefined && isIP(ip) === version;
      const known = (ports ?? []).filter(({ error }) => error === undefined);
      return isOwn ? [{ ip, ports: new Set(known.map(({ port, protocol }) => `${port}/${protocol}`)) }] : [];
    }),
    sourceRanges: sourceRanges(spec.loadBalancerSourceRanges ?? [], version),
  };
}

const hasClusterIp = (clusterIp: string | undefined): clusterIp is string =>
  clusterIp !== undefined && clusterIp !== '' && clusterIp !== 'None';

function portOf(
  { metadata, spec = {} }: ServiceObject,
  port: ServicePortSpec,
  { ofPorts, ...shared }: Addresses & Pick<ServicePort, 'version' | 'clusterIp'>,
): ServicePort[] {
  const protocol = port.protocol ?? 'TCP';
  if (!isProtocol(protocol)) return [];
  const own = ofPorts.filter(({ ports }) => ports.has(`${port.port}/${protocol}`)).map(({ ip }) => ip);
  return [
    {
      name: `${metadata.namespace}/${metadata.name}:${port.name ?? port.port}`,
      ...shared,
      ...(own.length > 0 && { loadBalancerIps: [...shared.loadBalancerIps, ...own] }),
      portName: port.name ?? '',
      protocol,
      port: port.port,
      nodePort: port.nodePort === 0 ? undefined : port.nodePort,
      isInternalLocal: spec.internalTrafficPolicy === 'Local',
      isExternalLocal: spec.externalTrafficPolicy === 'Local',
      affinityMs: affinityMs(spec),
    },
  ];
}

/**
 * Returns the source ranges of an IP family; empty if one of them includes all addresses, which means no restriction. The API server's
 * validation permits spaces around a range.
 */
function sourceRanges(ranges: string[], version: IpVersion): string[] {
  const own = ofFamily(
    ranges.map((range) => range.trim()),
    version,
  );
  return own.some((range) => range.endsWith('/0')) ? [] : own;
}

function affinityMs({ sessionAffinity, sessionAffinityConfig }: NonNullable<ServiceObject['spec']>) {
  if (sessionAffinity !== 'ClientIP') return undefined;
  return 1000 * (sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS);
}

const isProtocol = (name: string): name is Protocol => name in PROTOCOL_NUMBERS;

/** Whether the port is reachable at addresses other than the cluster IP. */
export const isExternal = ({ nodePort, externalIps, loadBalancerIps }: ServicePort): boolean =>
  nodePort !== undefined || externalIps.length > 0 || loadBalancerIps.length > 0;

/** The traffic policies whose endpoints the port uses. For an external address, pods and the node itself always use all endpoints. */
export const policiesOf = (port: ServicePort): { cluster: boolean; local: boolean } => ({
  cluster: !port.isInternalLocal || isExternal(port),
  local: port.isInternalLocal || (port.isExternalLocal && isExternal(port)),
});
