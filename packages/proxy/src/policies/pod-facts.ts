import { isIP } from 'node:net';
import { everyContainer, type Pod } from '@podwright/kube-api';
import type { IpVersion } from '@podwright/system';

type Labels = Readonly<Record<string, string>>;

/** The facts about a pod that policies depend on. */
export type PodFacts = {
  namespace: string;
  name: string;
  labels: Labels;
  /** Addresses, at most one per IP family. */
  ips: string[];
  isLocal: boolean;
  ports: { name: string; protocol: string; port: number }[];
};

/**
 * Returns a pod's facts; `undefined` if it has no addresses of its own, because it has none yet, is on the host network, or has terminated.
 */
export function podFacts({ metadata, spec, status }: Pod, nodeName: string): PodFacts | undefined {
  if (spec.hostNetwork === true || status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const ips = (status?.podIPs ?? []).map(({ ip }) => ip).filter((ip) => isIP(ip) !== 0);
  if (ips.length === 0) return undefined;
  const { namespace, name, labels = {} } = metadata;
  const ports = everyContainer(spec).flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, protocol = 'TCP', containerPort }) =>
      name === undefined || name === '' ? [] : { name, protocol, port: containerPort },
    ),
  );
  return { namespace, name, labels, ips, isLocal: spec.nodeName === nodeName, ports };
}

/** Returns the pod's address for an IP family. */
export const ipOf = ({ ips }: PodFacts, version: IpVersion): string | undefined =>
  ips.find((ip) => isIP(ip) === version);
