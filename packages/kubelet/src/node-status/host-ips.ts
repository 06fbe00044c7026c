import { isIP } from 'node:net';
import type { Node, NodeAddress } from '@podwright/kube-api';

/**
 * The hostIPs of pods: the first internal address of the node object, else the first external one, and the first of the other family.
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
 * DNS names and addresses of the node object, for the kubelet's serving certificate (upstream's newGetTemplateFn): clients connect to
 * these. A cloud controller may have written them.
 */
export function servingNames(node: Node | undefined): string[] {
  const names = addressesOf(node).flatMap((one) => (isServed(one) ? one.address : []));
  return [...new Set(names)];
}

const isServed = ({ type, address }: NodeAddress) =>
  address !== '' && (type === 'Hostname' || (isIP(address) !== 0 ? IPS : DNS_NAMES).includes(type));
const IPS = ['InternalIP', 'ExternalIP'];
const DNS_NAMES = ['InternalDNS', 'ExternalDNS'];

/** Tolerates invalid node objects: they must not stop the node. */
function addressesOf(node: Node | undefined): NodeAddress[] {
  const { addresses } = node?.status ?? {};
  return Array.isArray(addresses) ? addresses.filter((one) => typeof one?.address === 'string') : [];
}
