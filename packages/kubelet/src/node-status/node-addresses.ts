import { isIP, SocketAddress } from 'node:net';
import { networkInterfaces } from 'node:os';
import { errorMessage, nodeLookups, PodwrightError } from '@podwright/base';
import type { NodeAddress } from '@podwright/kube-api';
import { hostAddresses } from '../node/node-facts.ts';

/** Wildcard values of `--node-ip`, which only select the address family. */
const ANY = ['0.0.0.0', '::'];

export type WantedAddresses = {
  /** The node's name, which is also looked up in the host's name service (NSS). */
  name: string;
  /**
   * `--node-ip`: '' for any address, `0.0.0.0` or `::` for any address of that family, a single address, or two addresses separated by a
   * comma.
   */
  nodeIp: string;
  externalCloudProvider: boolean;
};

/** Sources of the host's addresses. */
export type AddressSources = {
  /** Returns the addresses of all network interfaces. */
  ofInterfaces: () => string[];
  /** Returns the addresses that the node's name resolves to; empty if the name is unknown. */
  ofName: (name: string) => Promise<string[]>;
  /** Returns the addresses of the interface with the default route, starting with the IP family of the wildcard `any`. */
  outward: (any: string) => Promise<string[]>;
};

/**
 * Returns the addresses for the Node object. Addresses given by `--node-ip` must belong to the host. If `--node-ip` is unset, resolves the
 * node's name and uses the result if it is an address of the host; otherwise, uses the address of the default route's interface. Rejects
 * with `failed_precondition` if there is none.
 */
export async function nodeAddresses(
  { name, nodeIp, externalCloudProvider }: WantedAddresses,
  sources: AddressSources = HOST,
): Promise<NodeAddress[]> {
  const given = nodeIp === '' ? [] : nodeIp.split(',').map((address) => canonical(address.trim()));
  const wanted = given.filter((address) => !ANY.includes(address));
  for (const address of wanted) {
    const problem = problemOf(address, sources.ofInterfaces());
    if (problem !== undefined) throw new PodwrightError('failed_precondition', `failed to validate nodeIP: ${problem}`);
  }
  const hostname: NodeAddress = { type: 'Hostname', address: name };
  const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address });
  if (externalCloudProvider && given.length === 0) return [hostname];
  if (wanted.length > 0) return [...wanted.slice(0, 2).map(internal), hostname];
  if (isIP(name) !== 0) return [internal(canonical(name)), hostname];
  return [internal(await findAddress(name, given[0] ?? '', sources)), hostname];
}

/** Returns the value of the provided-node-ip annotation for the cloud controller; `undefined` if the annotation must not be set. */
export function providedAddresses({ nodeIp, externalCloudProvider }: WantedAddresses): string | undefined {
  const wanted = nodeIp.split(',').map((address) => address.trim());
  const addresses = wanted.filter((address) => address !== '' && !ANY.includes(address)).map(canonical);
  return externalCloudProvider && addresses.length > 0 ? addresses.join(',') : undefined;
}

async function findAddress(name: string, any: string, sources: AddressSources): Promise<string> {
  const family = any === '::' ? 6 : 4;
  const own = sources.ofInterfaces();
  const named = (await sources.ofName(name)).map(canonical).filter((address) => problemOf(address, own) === undefined);
  const found = named.find((address) => isIP(address) === family) ?? named[0] ?? (await sources.outward(any))[0];
  if (found !== undefined && !isLoopback(found)) return found;
  throw new PodwrightError(
    'failed_precondition',
    `can't get ip address of node ${name}: the host has only loopback addresses`,
  );
}

/** Returns upstream's error message if the address cannot belong to the node. */
function problemOf(address: string, own: string[]): string | undefined {
  if (isIP(address) === 0) return 'nodeIP must be a valid IP address';
  if (isLoopback(address)) return "nodeIP can't be loopback address";
  if (/^(22[4-9]|23\d)\.|^ff/i.test(address)) return "nodeIP can't be a multicast address";
  if (/^169\.254\.|^fe[89ab]/i.test(address)) return "nodeIP can't be a link-local unicast address";
  if (!own.includes(address)) return `node IP: "${address}" not found in the host's network interfaces`;
  return undefined;
}

const isLoopback = (address: string) => address.startsWith('127.') || address === '::1';

/** Canonicalizes an IPv6 address; returns any other text unchanged. */
function canonical(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}

const HOST: AddressSources = {
  ofInterfaces: () => Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
  ofName: async (name) => {
    const found = await nodeLookups.addresses(name).catch((error: unknown) => errorMessage(error));
    return typeof found === 'string' ? [] : found.map(({ address }) => address);
  },
  outward: hostAddresses,
};
