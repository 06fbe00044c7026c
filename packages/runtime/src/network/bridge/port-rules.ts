import { isIP } from 'node:net';
import { addressBytes, type IpVersion } from '@podwright/system';
import type { PortMapping } from '../network.ts';

/** What is published for one sandbox: its addresses, and the ports of the host that lead to them. */
export type PublishedPorts = { ips: string[]; mappings: PortMapping[] };

/** One port of the host that leads to a pod, of one IP version. */
export type PortRule = {
  sandboxId: string;
  version: IpVersion;
  protocol: PortMapping['protocol'];
  /** Undefined means every address of the host. */
  hostIp: string | undefined;
  hostPort: number;
  ip: string;
  containerPort: number;
  /** The port of the host in words: no two rules may have the same. */
  key: string;
  /** The key of the same port on every address. */
  keyOfEvery: string;
};

/** Every address of one version, which is no address of the host's. */
const UNSPECIFIED = { 4: '0.0.0.0', 6: '::' } as const;

/** What a sandbox wants published. Throws `invalid_argument` for a `hostIp` that is no address. */
export function wantedRules(sandboxId: string, { ips, mappings }: PublishedPorts): PortRule[] {
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
 * The rules that are made of what each sandbox wants, in that order. Of two that want the same port of the host the first one
 * gets it, and the second once the first has gone, as with `portmap`.
 */
export function portRules(wanted: Iterable<PortRule[]>): PortRule[] {
  const rules = new Map<string, PortRule>();
  for (const ofSandbox of wanted)
    for (const rule of ofSandbox) if (!rules.has(rule.keyOfEvery) && !rules.has(rule.key)) rules.set(rule.key, rule);
  return [...rules.values()];
}

function ruleOf(wanted: PortMapping & Pick<PortRule, 'sandboxId' | 'version' | 'ip'>): PortRule[] {
  const { sandboxId, version, protocol, hostPort, ip, containerPort } = wanted;
  const address = wanted.hostIp === '' ? addressBytes(UNSPECIFIED[version]) : addressBytes(wanted.hostIp);
  const unspecified = addressBytes(UNSPECIFIED[version]);
  if (address.length !== unspecified.length) return [];
  const hostIp = address.equals(unspecified) ? undefined : wanted.hostIp;
  const keyOfEvery = `${version} ${protocol} ${hostPort}`;
  const key = hostIp === undefined ? keyOfEvery : `${keyOfEvery} ${address.toString('hex')}`;
  return [{ sandboxId, version, protocol, hostIp, hostPort, ip, containerPort, key, keyOfEvery }];
}
