/** Addresses and ports occupied by services. */
import { type ApiObject, numberAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';

export type Used = { ips: ReadonlySet<string>; ports: ReadonlySet<number> };

/** A service's UID, cluster IPs and node ports. */
export type ServiceValues = { uid: string | undefined; ips: readonly string[]; ports: readonly number[] };

const NONE = 'None';

export const isHeadless = (service: ApiObject): boolean => textsAt(service, 'spec', 'clusterIPs')[0] === NONE;

export const clusterIpsOf = (service: ApiObject): string[] =>
  textsAt(service, 'spec', 'clusterIPs').filter((ip) => ip !== NONE && ip !== '');

/** Returns a service's node ports, including its health check port. */
export function nodePortsOf(service: ApiObject): number[] {
  const ports = objectsAt(service, 'spec', 'ports').map((port) => numberAt(port, 'nodePort') ?? 0);
  return [...ports, numberAt(service, 'spec', 'healthCheckNodePort') ?? 0].filter((port) => port !== 0);
}

export const valuesOf = (service: ApiObject): ServiceValues => ({
  uid: service.metadata.uid,
  ips: clusterIpsOf(service),
  ports: nodePortsOf(service),
});

/** Returns the values used by all services except one. */
export function usedBy(services: Iterable<ServiceValues>, exceptUid: string | undefined): Used {
  const ips = new Set<string>();
  const ports = new Set<number>();
  for (const service of services) {
    if (exceptUid !== undefined && service.uid === exceptUid) continue;
    for (const ip of service.ips) ips.add(ip);
    for (const port of service.ports) ports.add(port);
  }
  return { ips, ports };
}

export const hasNodePorts = (service: ApiObject): boolean => ['NodePort', 'LoadBalancer'].includes(typeOf(service));

export const typeOf = (service: ApiObject): string => textAt(service, 'spec', 'type');
