/** Decides which LoadBalancer Services get the node's addresses. Each port of the node can belong to only one Service. Pure. */
import { isIP } from 'node:net';
import { placeText } from '../framework/object-place.ts';
import type { LoadBalancerIngress, Service } from '../objects/service.ts';

export type LoadBalancerState = {
  services: readonly Service[];
  /** The node's addresses, at most one per IP family. */
  addresses: readonly string[];
  /**
   * Returns a description of what already uses a port of the node, such as `a program of the node`, for messages; `undefined` if the port
   * is free.
   */
  holderOf: (port: number, protocol: string) => string | undefined;
};

export type LoadBalancerChange = {
  service: Service;
  /** The Service's new ingress points (`status.loadBalancer.ingress`); absent if unchanged. */
  ingress?: LoadBalancerIngress[];
  /** Why the Service gets no address. */
  problem?: string;
};

/**
 * Returns the new addresses of all LoadBalancer Services. If several use the same port, one that already has an address for it keeps it;
 * otherwise the oldest gets it. A Service being deleted loses its address, because its owner could retain the Service with a finalizer and
 * change its ports.
 */
export function decideLoadBalancers({ services, addresses, holderOf }: LoadBalancerState): LoadBalancerChange[] {
  const own = services.filter(isOwn).toSorted(byPrecedence);
  const holders = new Map<string, string>();
  return own.map((service) => {
    if (service.metadata.deletionTimestamp !== undefined) return changeTo(service, []);
    const ports = portsOf(service);
    const taken = ports.find(({ port, protocol }) => holders.has(`${port}/${protocol}`));
    const used = ports.find(({ port, protocol }) => holderOf(port, protocol) !== undefined);
    const conflict = taken ?? used;
    if (conflict !== undefined) {
      const { port, protocol } = conflict;
      const holder = holders.get(`${port}/${protocol}`) ?? holderOf(port, protocol);
      return { ...changeTo(service, []), problem: `the port ${port}/${protocol} of the node is used by ${holder}` };
    }
    for (const { port, protocol } of ports)
      holders.set(`${port}/${protocol}`, `the Service ${placeText(service.metadata)}`);
    const wanted = (service.spec.ipFamilies ?? ['IPv4']).flatMap((family) => {
      const ip = addresses.find((address) => `IPv${isIP(address)}` === family);
      return ip === undefined ? [] : [{ ip, ports }];
    });
    return changeTo(service, wanted);
  });
}

/** Whether this controller handles the Service. If its type changes, the API server removes the address. */
const isOwn = ({ spec }: Service): boolean => spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;

const portsOf = ({ spec }: Service) => (spec.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }));

function changeTo(service: Service, wanted: LoadBalancerIngress[]): LoadBalancerChange {
  const isSame = ingressTexts(ingressOf(service)).join('\n') === ingressTexts(wanted).join('\n');
  return isSame ? { service } : { service, ingress: wanted };
}

const ingressOf = ({ status }: Service): LoadBalancerIngress[] => status?.loadBalancer?.ingress ?? [];

const ingressTexts = (ingress: readonly LoadBalancerIngress[]): string[] =>
  ingress.map(({ ip, hostname, ports }) => `${ip ?? hostname} ${portNames(ports)}`);

const portNames = (ports: LoadBalancerIngress['ports']): string[] | undefined =>
  ports?.map(({ port, protocol }) => `${port}/${protocol}`);

function byPrecedence(a: Service, b: Service): number {
  const created = ({ metadata }: Service) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  const [one, other] = [placeText(a.metadata), placeText(b.metadata)];
  return Number(lacksAddress(a)) - Number(lacksAddress(b)) || created(a) - created(b) || (one < other ? -1 : 1);
}

/**
 * Whether any of the Service's ports has no address yet, because the Service or the port is new. Statuses written by earlier versions list
 * no ports; their address applies to all ports.
 */
function lacksAddress(service: Service): boolean {
  const [first] = ingressOf(service);
  if (first === undefined) return true;
  const known = first.ports === undefined ? undefined : new Set(portNames(first.ports));
  return known !== undefined && !portNames(portsOf(service))!.every((name) => known.has(name));
}
