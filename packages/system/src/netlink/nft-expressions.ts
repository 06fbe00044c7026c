import { addressBytes, prefixMask } from './ip-address.ts';
import { be32, text, u8, u32 } from './message.ts';
import {
  ADDRESS_FIELDS,
  address4or6,
  bitwiseAnd,
  CMP_EQ,
  CMP_NEQ,
  CT,
  compare,
  destinationPort,
  expression,
  type IpVersion,
  immediateVerdict,
  META,
  meta,
  NFPROTO,
  type NftExpression,
  register,
} from './nft-encoding.ts';

// Each of these functions returns the expressions that nft(8) generates for one statement.

/** Size of an interface name including its NUL terminator. Names are compared over their full length. */
const IFNAMSIZ = 16;
/** Status bit of connections with destination NAT (nf_conntrack_common.h). */
const IPS_DST_NAT = 1 << 5;
/** NFT_FIB_RESULT_ADDRTYPE, NFTA_FIB_F_DADDR, and the type for local addresses (linux/rtnetlink.h). */
const FIB_RESULT_ADDRTYPE = 3;
const FIB_DADDR = 1 << 1;
const RTN_LOCAL = 2;
const NAT_DNAT = 1;

/** Matches the IP version (`meta nfproto ipv4` or `ipv6`). In an `inet` table, must precede expressions that read header fields. */
export const ofVersion = (version: IpVersion): NftExpression[] => [
  meta(META.nfproto, 0),
  compare(CMP_EQ, u8(NFPROTO[version])),
];

/** Matches the input interface (`iifname NAME`). */
export const comesIn = (name: string): NftExpression[] => [
  meta(META.iifname, 0),
  compare(CMP_EQ, Buffer.concat([Buffer.from(name)], IFNAMSIZ)),
];

/** Matches the output interface (`oifname NAME`). */
export const goesOut = (name: string): NftExpression[] => [
  meta(META.oifname, 0),
  compare(CMP_EQ, Buffer.concat([Buffer.from(name)], IFNAMSIZ)),
];

/** Matches a source or destination address against a CIDR block (`ip saddr CIDR`, `ip6 daddr != CIDR` and the like). */
export function inPrefix(field: 'saddr' | 'daddr', cidr: string, is = true): NftExpression[] {
  const [address = '', length = ''] = cidr.split('/');
  const bytes = addressBytes(address);
  const mask = prefixMask(Number(length), bytes.length);
  const network = Buffer.from(bytes.map((byte, at) => byte & mask[at]!));
  const masked = Number(length) === 8 * bytes.length ? [] : [bitwiseAnd(mask)];
  return [address4or6(field, bytes.length === 4 ? 4 : 6), ...masked, compare(is ? CMP_EQ : CMP_NEQ, network)];
}

/** Matches destination addresses in a set (`ip daddr @SET`). */
export const daddrIn = (version: IpVersion, set: string): NftExpression[] => [
  address4or6('daddr', version),
  expression('lookup', [
    [1, text(set)],
    [2, register(0)],
  ]),
];

/** Matches connections with destination NAT (`ct status dnat`). */
export const destinationTranslated = (): NftExpression[] => [
  expression('ct', [
    [1, register(0)],
    [2, be32(CT.status)],
  ]),
  bitwiseAnd(u32(IPS_DST_NAT)),
  compare(CMP_NEQ, u32(0)),
];

/** Matches packets addressed to this host (`fib daddr type local`). */
export const toThisHost = (): NftExpression[] => [
  expression('fib', [
    [1, register(0)],
    [2, be32(FIB_RESULT_ADDRTYPE)],
    [3, be32(FIB_DADDR)],
  ]),
  compare(CMP_EQ, u32(RTN_LOCAL)),
];

/**
 * `dnat ip to [ip daddr .] meta l4proto . th dport map @MAP`: translates the destination to the address and port that the map has for the
 * packet's protocol, port and, if part of the map's key, destination address.
 */
export function translateDestination(version: IpVersion, map: string, keyHasAddress: boolean): NftExpression[] {
  const words = ADDRESS_FIELDS[version].bytes / 4;
  const start = keyHasAddress ? words : 0;
  return [
    ...(keyHasAddress ? [...ofVersion(version), address4or6('daddr', version)] : []),
    meta(META.l4proto, start),
    destinationPort(start + 1),
    expression('lookup', [
      [1, text(map)],
      [2, register(0)],
      [3, register(0)],
    ]),
    expression('nat', [
      [1, be32(NAT_DNAT)],
      [2, be32(NFPROTO[version])],
      [3, register(0)],
      [5, register(words)],
    ]),
  ];
}

/** Masquerades the source address (`masquerade`). */
export const masquerade = (): NftExpression[] => [expression('masq', [])];

/** Accepts or drops the packet, or returns from the chain (`accept`, `drop`, `return`). */
export const verdict = (name: 'accept' | 'drop' | 'return'): NftExpression[] => [immediateVerdict(name)];

/** Jumps to another chain (`jump CHAIN`). */
export const jump = (chain: string): NftExpression[] => [immediateVerdict({ jump: chain })];
