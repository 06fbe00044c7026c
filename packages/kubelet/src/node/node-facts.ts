/** Facts about the node that are used in pod specs and container environments. */
import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { isErrno } from '@podwright/base';

/** Wildcard values of `--node-ip`, with the address family that each puts first. */
const ANY_ADDRESS: Record<string, 'IPv4' | 'IPv6'> = { '': 'IPv4', '0.0.0.0': 'IPv4', '::': 'IPv6' };

/**
 * Returns the node's addresses: those in `wanted`; otherwise those of the interface with the default route; otherwise any that are not
 * loopback.
 */
export async function hostAddresses(wanted: string): Promise<string[]> {
  const first = ANY_ADDRESS[wanted];
  if (first === undefined) return wanted.split(',').map((address) => address.trim());
  const routes = await ipv4Routes();
  const defaultInterface = /^(\S+)\s+00000000\s/m.exec(routes)?.[1];
  const all = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? []).map((address) => ({ name, ...address })),
  );
  const outward = all.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  const preferred = outward.filter(({ name }) => name === defaultInterface);
  const chosen = preferred.length > 0 ? preferred : outward;
  const ipv4 = chosen.find(({ family }) => family === 'IPv4');
  const ipv6 = chosen.find(({ family }) => family === 'IPv6');
  const found = (first === 'IPv6' ? [ipv6, ipv4] : [ipv4, ipv6])
    .filter((one) => one !== undefined)
    .map(({ address }) => address);
  return found.length > 0 ? found : ['127.0.0.1'];
}

/** Returns the kernel's IPv4 routing table; '' on a host without IPv4. */
async function ipv4Routes(): Promise<string> {
  try {
    return await readFile('/proc/net/route', 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

/** Returns the labels that every node has. The beta labels are included because many manifests still select on them. */
export function standardLabels(nodeName: string): Record<string, string> {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch;
  return {
    'kubernetes.io/hostname': nodeName === '' ? hostname() : nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': arch,
  };
}
