/** Lists and compares the host ports of pods. Pure. */
import type { FieldPath } from '../issue.ts';
import { isSidecar } from '../objects/container.ts';
import type { Pod } from '../objects/pod.ts';

/** Wildcard address: all addresses of the host. */
export const ANY_ADDRESS = '0.0.0.0';

/**
 * A host port. `ip` is 0.0.0.0 for all addresses and `::` for all IPv6 addresses; like upstream, addresses are compared as strings. `path`
 * is the field in the pod spec.
 */
export type HostPort = { ip: string; port: number; protocol: string; path: FieldPath };

/** Returns the host ports of the containers that run concurrently: sidecars and regular containers. */
export function hostPorts({ spec }: Pod): HostPort[] {
  return (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap((container, index) => {
      if (field === 'initContainers' && !isSidecar(container)) return [];
      return (container.ports ?? []).flatMap(({ hostPort, hostIP, protocol = 'TCP' }, at) => {
        if (!hostPort) return [];
        const path = ['spec', field, index, 'ports', at, 'hostPort'];
        return [{ port: hostPort, ip: hostIP || ANY_ADDRESS, protocol, path }];
      });
    }),
  );
}

/** Returns the pod's first host port that conflicts with another pod's, and that pod. */
export function takenPort(pod: Pod, others: Pod[]): { wanted: HostPort; holder: Pod } | undefined {
  const taken = others.flatMap((holder) => hostPorts(holder).map((port) => ({ port, holder })));
  for (const wanted of hostPorts(pod)) {
    const found = taken.find(({ port }) => portsConflict(wanted, port));
    if (found !== undefined) return { wanted, holder: found.holder };
  }
  return undefined;
}

/** Formats a host port for messages, such as `8080/TCP`. The address is omitted if it is 0.0.0.0. */
export function portText({ ip, port, protocol }: Omit<HostPort, 'path'>): string {
  const at = ip === ANY_ADDRESS ? '' : ip.includes(':') ? `[${ip}]:` : `${ip}:`;
  return `${at}${port}/${protocol}`;
}

/** Whether two host ports conflict, so that they cannot be in use at the same time. */
export function portsConflict(a: Omit<HostPort, 'path'>, b: Omit<HostPort, 'path'>): boolean {
  const overlap = a.ip === b.ip || a.ip === ANY_ADDRESS || b.ip === ANY_ADDRESS;
  return a.port === b.port && a.protocol === b.protocol && overlap;
}
