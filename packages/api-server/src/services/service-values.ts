/** The addresses and ports that services occupy. */
import { type ApiObject, numberAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';

export type Used = { ips: ReadonlySet<string>; ports: ReadonlySet<number> };

const NONE = 'None';

export const isHeadless = (service: ApiObject): boolean => textsAt(service, 'spec', 'clusterIPs')[0] === NONE;

export const clusterIpsOf = (service: ApiObject): string[] =>
  textsAt(service, 'spec', 'clusterIPs').filter((ip) => ip !== NONE && ip !== '');

/** The node ports of a service, with that of its health check. */
export function nodePortsOf(service: ApiObject): number[] {
  const ports = objectsAt(service, 'spec', 'ports').map((port) => numberAt(port, 'nodePort') ?? 0);
  return [...ports, numberAt(service, 'spec', 'healthCheckNodePort') ?? 0].filter((port) => port !== 0);
}

/** The values of all services but one. */
export function usedBy(services: Iterable<ApiObject>, exceptUid: string | undefined): Used {
  const others = [...services].filter(({ metadata }) => exceptUid === undefined || metadata.uid !== exceptUid);
  return { ips: new Set(others.flatMap(clusterIpsOf)), ports: new Set(others.flatMap(nodePortsOf)) };
}

export const hasNodePorts = (service: ApiObject): boolean => ['NodePort', 'LoadBalancer'].includes(typeOf(service));

export const typeOf = (service: ApiObject): string => textAt(service, 'spec', 'type');
