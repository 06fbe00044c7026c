import type { Link, LinkAddress, Route } from '@podwright/system';
import { type AddressRange, type Block, blockOf, cidrOf, overlap } from './address-range.ts';

/** The host's current state: the link with the bridge's name (if any), all addresses and all routes. */
export type HostState = { link: Link | undefined; addresses: LinkAddress[]; routes: Route[] };

/** How to set up the bridge, or why setting it up is refused. */
export type BridgePlan =
  | { kind: 'create' }
  | { kind: 'repair'; index: number; up: boolean; add: LinkAddress[]; remove: LinkAddress[] }
  | { kind: 'refuse'; message: string };

/** Input for planning the bridge. `isOwn`: this node created the bridge, or was about to create it. */
export type BridgeFacts = { bridge: string; isOwn: boolean; ranges: AddressRange[]; state: HostState };

/**
 * Plans how to set up the bridge. A bridge created by another program is used only if it has no other subnet; a bridge created by this node
 * is changed to the configured subnets.
 */
export function planBridge(facts: BridgeFacts): BridgePlan {
  const { bridge, isOwn, ranges, state } = facts;
  const { link } = state;
  if (link !== undefined && link.kind !== 'bridge')
    return refuse(
      `link ${bridge} exists and is not a bridge (${link.kind ?? 'a device'}): choose another network.bridge`,
    );
  const taken = collision(facts);
  if (taken !== undefined) return refuse(taken);
  if (link === undefined) return { kind: 'create' };
  const has = state.addresses.filter(({ linkIndex }) => linkIndex === link.index);
  const expected = gatewaysOf(ranges, link.index);
  const others = has.filter((address) => !expected.some((own) => same(own, address)) && replaced(address, ranges));
  if (others.length > 0 && !isOwn)
    return refuse(
      `bridge ${bridge} was not created by this node and has ${others.map(({ address, prefixLength }) => `${address}/${prefixLength}`).join(', ')}: ` +
        'choose another network.bridge, or a network.subnet that starts before that address',
    );
  const add = expected.filter((own) => !has.some((address) => same(own, address)));
  return { kind: 'repair', index: link.index, up: link.up, add, remove: others };
}

/** Returns the bridge's own addresses, which are the pods' gateways. */
function gatewaysOf(ranges: AddressRange[], linkIndex: number): LinkAddress[] {
  return ranges.map(({ gateway, prefixLength }) => ({ linkIndex, address: gateway, prefixLength }));
}

/**
 * Whether an existing address must be removed in favor of the configured subnets: a bridge may have only one IPv4 subnet but retains other
 * IPv6 subnets, as with the CNI plugin `bridge`.
 */
function replaced(address: LinkAddress, ranges: AddressRange[]): boolean {
  const block = blockOfAddress(address);
  return ranges.some((range) => range.family === block.family && (block.family === 4 || overlap(block, range)));
}

const same = (one: LinkAddress, other: LinkAddress): boolean =>
  one.address === other.address && one.prefixLength === other.prefixLength;

const blockOfAddress = ({ address, prefixLength }: LinkAddress): Block => blockOf(`${address}/${prefixLength}`);
const blockOfRoute = ({ destination, prefixLength }: Route): Block => blockOf(`${destination}/${prefixLength}`);

/**
 * Returns a user-facing error message that names the host route colliding with a pod subnet and suggests a free subnet; `undefined` if
 * there is no collision.
 */
function collision({ ranges, state }: BridgeFacts): string | undefined {
  const routes = state.routes.filter(({ linkIndex }) => linkIndex === undefined || linkIndex !== state.link?.index);
  for (const range of ranges) {
    const route = routes.find((candidate) => collides(candidate, range));
    if (route === undefined) continue;
    const free = freeSubnet(range, routes);
    const hint =
      free === undefined ? 'set network.subnet to a free one' : `set network.subnet to a free one, such as ${free}`;
    return `pod subnet ${range.cidr} collides with the host's route to ${cidrOf(blockOfRoute(route))}: ${hint}`;
  }
  return undefined;
}

/**
 * Whether a host route makes a pod subnet unusable. The subnet must not overlap a network that the host is directly connected to, and must
 * not contain the destination of a route via a gateway. A wider route via a gateway is no problem: it stays usable, except for the pod
 * subnet.
 */
function collides(route: Route, range: AddressRange): boolean {
  const block = blockOfRoute(route);
  if (!overlap(block, range)) return false;
  return !route.viaGateway || block.prefixLength >= range.prefixLength;
}

/**
 * Maximum number of host routes for which to suggest a free subnet. Above it, the search would take too long, because each candidate is
 * compared with every route.
 */
const MOST_ROUTES = 1000;

/** Returns the first private CIDR block with this prefix length that overlaps no route (RFC 1918, RFC 4193). */
function freeSubnet({ family, prefixLength }: AddressRange, routes: Route[]): string | undefined {
  if (routes.length > MOST_ROUTES) return undefined;
  const taken = routes.map(blockOfRoute);
  return proposals(family, prefixLength).find((cidr) => {
    const proposed = blockOf(cidr);
    return !taken.some((block) => overlap(block, proposed));
  });
}

function proposals(family: 4 | 6, prefixLength: number): string[] {
  if (family === 6)
    return Array.from(
      { length: 256 },
      (_, index) => `fd00:${(0x83 + index).toString(16)}::/${Math.max(32, prefixLength)}`,
    );
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const length = Math.max(16, prefixLength);
  return [
    ...numbers(84, 255).map((second) => `10.${second}.0.0/${length}`),
    ...numbers(16, 31).map((second) => `172.${second}.0.0/${length}`),
    ...numbers(0, 255).map((third) => `192.168.${third}.0/${Math.max(24, prefixLength)}`),
  ];
}

const refuse = (message: string): BridgePlan => ({ kind: 'refuse', message });
