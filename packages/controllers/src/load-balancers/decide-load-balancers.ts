/** Decides which Services of type LoadBalancer get the addresses of the node. Only one of them can have a port of the node. Pure. */
import { isIP } from 'node:net';
import { placeText } from '../framework/object-place.ts';
import type { LoadBalancerIngress, Service } from '../objects/service.ts';

export type LoadBalancerState = {
  services: readonly Service[];
  /** The addresses of the node: at most one of each IP family. */
  addresses: readonly string[];
  /** Returns the user of a port of the node, such as `a program of the node`, for messages; `undefined` if the port is free. */
  holderOf: (port: number, protocol: string) => string | undefined;
};

export type LoadBalancerChange = {
  service: Service;
  /** The new ingress points; absent if they do not change. */
  ingress?: LoadBalancerIngress[];
  /** Why the Service has no address. */
  problem?: string;
};

/** If several Services have the same port, one that has an address already keeps it; otherwise the oldest one gets it. */
export function decideLoadBalancers({ services, addresses, holderOf }: LoadBalancerState): LoadBalancerChange[] {
  const own = services.filter(isOwn).toSorted(byPrecedence);
  const holders = new Map<string, string>();
  return own.map((service) => {
    const ports = (service.spec.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol }));
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
      return ip === undefined ? [] : [{ ip }];
    });
    return changeTo(service, wanted);
  });
}

/** Whether this controller serves the Service. If the type changes, the API server removes the address. */
const isOwn = ({ spec, metadata }: Service): boolean =>
  spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined && metadata.deletionTimestamp === undefined;

function changeTo(service: Service, wanted: LoadBalancerIngress[]): LoadBalancerChange {
  const known = addressesOf(service);
  const isSame = known.length === wanted.length && wanted.every(({ ip }, index) => ip === known[index]);
  return isSame ? { service } : { service, ingress: wanted };
}

const addressesOf = ({ status }: Service) =>
  (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname);

function byPrecedence(a: Service, b: Service): number {
  const isPending = (service: Service) => Number(addressesOf(service).length === 0);
  const created = ({ metadata }: Service) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  const [one, other] = [placeText(a.metadata), placeText(b.metadata)];
  return isPending(a) - isPending(b) || created(a) - created(b) || (one < other ? -1 : 1);
}
