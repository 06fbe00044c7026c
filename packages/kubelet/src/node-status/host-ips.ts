import { isIP } from 'node:net';
import type { Node, NodeAddress } from '@podwright/kube-api';

/**
 * Returns the host IPs of pods: the Node object's first internal address, or else its first external one, plus the first address of the
 * other IP family. `undefined` while the object has no addresses.
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
 * Returns the DNS names and addresses for the kubelet's serving certificate (upstream's newGetTemplateFn). They are taken from the Node
 * object, because clients connect to those addresses and a cloud controller may have set them.
 */
export function servingNames(node: Node | undefined): string[] {
  const names = addressesOf(node).flatMap((one) => (isServed(one) ? one.address : []));
  return [...new Set(names)];
}

const isServed = ({ type, address }: NodeAddress) =>
  address !== '' && (type === 'Hostname' || (isIP(address) !== 0 ? IPS : DNS_NAMES).includes(type));
const IPS = ['InternalIP', 'ExternalIP'];
const DNS_NAMES = ['InternalDNS', 'ExternalDNS'];

/** Returns the Node object's addresses, skipping invalid ones: an invalid Node object must not make the kubelet fail. */
function addressesOf(node: Node | undefined): NodeAddress[] {
  const { addresses } = node?.status ?? {};
  return Array.isArray(addresses) ? addresses.filter((one) => typeof one?.address === 'string') : [];
}
