import { isIP } from 'node:net';
import type { Node, NodeAddress } from '@podwright/kube-api';

/**
 * The hostIPs of pods: the node object's first internal address, or else its first external one, and the first address of the other family.
 * `undefined` while the object has no addresses.
 */
export function nodeHostIps(node: Node | undefined): string[] | undefined {
  const listed = addressesOf(node);
  const of = (wanted: string) => listed.flatMap(({ type, address }) => (type === wanted ? [address] : []));
  const [first, ...others] = [...of('InternalIP'), ...of('ExternalIP')].filter((address) => isIP(address) !== 0);
  if (first === undefined) return undefined;
  const second = others.find((address) => isIP(address) !== isIP(first));
  return second === undefined ? [first] : [first, second];
}

/**
 * The DNS names and addresses of the node object, to which clients connect, for the kubelet's serving certificate (upstream's
 * newGetTemplateFn). A cloud controller may have written them.
 */
export function servingNames(node: Node | undefined): string[] {
  const names = addressesOf(node).flatMap((one) => (isServed(one) ? one.address : []));
  return [...new Set(names)];
}

const isServed = ({ type, address }: NodeAddress) =>
  address !== '' && (type === 'Hostname' || (isIP(address) !== 0 ? IPS : DNS_NAMES).includes(type));
const IPS = ['InternalIP', 'ExternalIP'];
const DNS_NAMES = ['InternalDNS', 'ExternalDNS'];

/** Tolerates an invalid node object, because it must not stop the node. */
function addressesOf(node: Node | undefined): NodeAddress[] {
  const { addresses } = node?.status ?? {};
  return Array.isArray(addresses) ? addresses.filter((one) => typeof one?.address === 'string') : [];
}
