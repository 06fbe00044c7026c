import { isIP } from 'node:net';
import { addressBytes, type IpVersion } from '@podwright/system';
import type { PortMapping } from '../network.ts';

/** A sandbox's published ports: its IP addresses, and the host ports that are forwarded to them. */
export type PublishedPorts = { ips: string[]; mappings: PortMapping[] };

/** A host port forwarded to a pod, for one IP family. */
export type PortRule = {
  sandboxId: string;
  version: IpVersion;
  protocol: PortMapping['protocol'];
  /** The host address on which the port is published; undefined for all host addresses. */
  hostIp: string | undefined;
  hostPort: number;
  ip: string;
  containerPort: number;
  /** Identifies the host port: rules with the same key conflict. */
  key: string;
  /** The key of a rule for the same port on all host addresses. */
  keyOfEvery: string;
};

/** The unspecified address of each IP family, which means all host addresses. */
const UNSPECIFIED = { 4: '0.0.0.0', 6: '::' } as const;

/** Returns the rules requested by a sandbox. Throws `invalid_argument` if a `hostIp` is not an IP address. */
export function requestedRules(sandboxId: string, { ips, mappings }: PublishedPorts): PortRule[] {
  return mappings
    .filter(({ hostPort }) => hostPort > 0)
    .flatMap((mapping) =>
      ([4, 6] as const).flatMap((version) => {
        const ip = ips.find((address) => isIP(address) === version);
        return ip === undefined ? [] : ruleOf({ ...mapping, sandboxId, version, ip });
      }),
    );
}

/**
 * Combines the sandboxes' requested rules, in order. If two sandboxes request the same host port, the first one gets it; when that sandbox
 * is removed, the second one does, as with the CNI plugin `portmap`.
 */
export function portRules(requested: Iterable<PortRule[]>): PortRule[] {
  const rules = new Map<string, PortRule>();
  for (const ofSandbox of requested)
    for (const rule of ofSandbox) if (!rules.has(rule.keyOfEvery) && !rules.has(rule.key)) rules.set(rule.key, rule);
  return [...rules.values()];
}

function ruleOf(requested: PortMapping & Pick<PortRule, 'sandboxId' | 'version' | 'ip'>): PortRule[] {
  const { sandboxId, version, protocol, hostPort, ip, containerPort } = requested;
  const address = requested.hostIp === '' ? addressBytes(UNSPECIFIED[version]) : addressBytes(requested.hostIp);
  const unspecified = addressBytes(UNSPECIFIED[version]);
  if (address.length !== unspecified.length) return [];
  const hostIp = address.equals(unspecified) ? undefined : requested.hostIp;
  const keyOfEvery = `${version} ${protocol} ${hostPort}`;
  const key = hostIp === undefined ? keyOfEvery : `${keyOfEvery} ${address.toString('hex')}`;
  return [{ sandboxId, version, protocol, hostIp, hostPort, ip, containerPort, key, keyOfEvery }];
}
