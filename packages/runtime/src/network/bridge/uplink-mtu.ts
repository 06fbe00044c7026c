import type { DefaultRoute, Link } from '@podwright/system';

/** MTU for pods' links if the host has no default route: that of Ethernet. */
const ETHERNET_MTU = 1500;
/** Minimum MTU of IPv6 (RFC 8200, 5). */
const MIN_IPV6_MTU = 1280;
/** Maximum MTU of a veth link. */
const MAX_MTU = 65_535;

/**
 * Returns the MTU for pods' links: the smallest MTU among the links of the host's default routes. With a larger one, pods would depend on
 * routers' ICMP messages, which firewalls often drop.
 */
export function uplinkMtu(links: Pick<Link, 'index' | 'mtu'>[], routes: DefaultRoute[]): number {
  const families = Map.groupBy(routes, ({ family }) => family);
  const used = [...families.values()].flatMap((all) => {
    const lowest = Math.min(...all.map(({ metric }) => metric));
    return all.filter(({ metric }) => metric === lowest).flatMap(({ linkIndexes }) => linkIndexes);
  });
  const mtus = links.filter(({ index }) => used.includes(index)).map(({ mtu }) => mtu);
  if (mtus.length === 0) return ETHERNET_MTU;
  return Math.max(MIN_IPV6_MTU, Math.min(MAX_MTU, ...mtus));
}
