import type { Link, LinkAddress, Route } from '@podwright/system';
import { type AddressRange, type Block, blockOf, cidrOf, overlap } from './address-range.ts';

/** What the host has of what the bridge network needs. */
export type HostPicture = { link: Link | undefined; addresses: LinkAddress[]; routes: Route[] };

/** What is to be done about the bridge. */
export type BridgePlan =
  | { kind: 'make' }
  | { kind: 'mend'; index: number; up: boolean; add: LinkAddress[]; remove: LinkAddress[] }
  | { kind: 'refuse'; message: string };

/** What it is planned from; `ours` says that we have made the bridge, or were about to. */
export type BridgeFacts = { bridge: string; ours: boolean; ranges: AddressRange[]; picture: HostPicture };

/**
 * Plans how the bridge becomes what pods need. A bridge that somebody else made is used if it has no other subnet, one of ours
 * is given the subnets of today.
 */
export function planBridge(facts: BridgeFacts): BridgePlan {
  const { bridge, ours, ranges, picture } = facts;
  const { link } = picture;
  if (link !== undefined && link.kind !== 'bridge')
    return refuse(
      `link ${bridge} is there and is no bridge (${link.kind ?? 'a device'}): choose another network.bridge`,
    );
  const taken = collision(facts);
  if (taken !== undefined) return refuse(taken);
  if (link === undefined) return { kind: 'make' };
  const has = picture.addresses.filter(({ linkIndex }) => linkIndex === link.index);
  const wanted = gatewaysOf(ranges, link.index);
  const others = has.filter((address) => !wanted.some((own) => same(own, address)) && replaced(address, ranges));
  if (others.length > 0 && !ours)
    return refuse(
      `bridge ${bridge} is not ours and has ${others.map(({ address, prefixLength }) => `${address}/${prefixLength}`).join(', ')}: ` +
        'choose another network.bridge, or have network.subnet begin before that address',
    );
  const add = wanted.filter((own) => !has.some((address) => same(own, address)));
  return { kind: 'mend', index: link.index, up: link.up, add, remove: others };
}

/** The addresses that the bridge has for pods to find the host by. */
function gatewaysOf(ranges: AddressRange[], linkIndex: number): LinkAddress[] {
  return ranges.map(({ gateway, prefixLength }) => ({ linkIndex, address: gateway, prefixLength }));
}

/** Of IPv4 a bridge has our subnet alone; other IPv6 subnets may stay beside it (as CNI's plugin `bridge` has it). */
function replaced(address: LinkAddress, ranges: AddressRange[]): boolean {
  const block = blockOfAddress(address);
  return ranges.some((range) => range.family === block.family && (block.family === 4 || overlap(block, range)));
}

const same = (one: LinkAddress, other: LinkAddress): boolean =>
  one.address === other.address && one.prefixLength === other.prefixLength;

const blockOfAddress = ({ address, prefixLength }: LinkAddress): Block => blockOf(`${address}/${prefixLength}`);
const blockOfRoute = ({ destination, prefixLength }: Route): Block => blockOf(`${destination}/${prefixLength}`);

/** Says which route of the host a subnet of pods is in the way of, and which subnet is free. */
function collision({ ranges, picture }: BridgeFacts): string | undefined {
  const routes = picture.routes.filter(({ linkIndex }) => linkIndex === undefined || linkIndex !== picture.link?.index);
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
 * A network that the host is in must not overlap with the pods', nor may anything be reached by a gateway at pods' addresses.
 * A wider route by a gateway only loses the part that the pods take of it.
 */
function collides(route: Route, range: AddressRange): boolean {
  const block = blockOfRoute(route);
  if (!overlap(block, range)) return false;
  return !route.viaGateway || block.prefixLength >= range.prefixLength;
}

/** Of so many routes at most a free subnet is looked for: each proposal is compared with each of them. */
const MOST_ROUTES = 1000;

/** The first private block of this size that no route leads into (RFC 1918, RFC 4193). */
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
