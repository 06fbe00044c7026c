/** Ports of the host that pods ask for. Pure. */
import { type FieldPath, isSidecar, type Pod } from '@podwright/kube-api';

/** All addresses of the host. */
export const ANY = '0.0.0.0';

/** `ip` is 0.0.0.0 for all addresses of the host, `::` for those of IPv6, which upstream compares as text; `path` is the field. */
export type HostPort = { ip: string; port: number; protocol: string; path: FieldPath };

/** Those of containers that run side by side: sidecars and ordinary ones. */
export function hostPorts({ spec }: Pod): HostPort[] {
  return (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).flatMap((container, index) => {
      if (field === 'initContainers' && !isSidecar(container)) return [];
      return (container.ports ?? []).flatMap(({ hostPort, hostIP, protocol = 'TCP' }, at) => {
        if (!hostPort) return [];
        const path = ['spec', field, index, 'ports', at, 'hostPort'];
        return [{ port: hostPort, ip: hostIP || ANY, protocol, path }];
      });
    }),
  );
}

/** The first port of the pod that one of the others has. */
export function takenPort(pod: Pod, others: Pod[]): { wanted: HostPort; holder: Pod } | undefined {
  const taken = others.flatMap((holder) => hostPorts(holder).map((port) => ({ port, holder })));
  for (const wanted of hostPorts(pod)) {
    const found = taken.find(({ port }) => conflicts(wanted, port));
    if (found !== undefined) return { wanted, holder: found.holder };
  }
  return undefined;
}

/** Such as `8080/TCP`, with the address if it is one of several. */
export function portText({ ip, port, protocol }: Omit<HostPort, 'path'>): string {
  const at = ip === ANY ? '' : ip.includes(':') ? `[${ip}]:` : `${ip}:`;
  return `${at}${port}/${protocol}`;
}

/** Whether both cannot be had at once. */
export function conflicts(a: Omit<HostPort, 'path'>, b: Omit<HostPort, 'path'>): boolean {
  const overlap = a.ip === b.ip || a.ip === ANY || b.ip === ANY;
  return a.port === b.port && a.protocol === b.protocol && overlap;
}
