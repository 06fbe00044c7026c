import { be16, be32, be64, text, u8, u32 } from './message.ts';
import {
  address4or6,
  bitwiseAnd,
  CMP_EQ,
  CMP_GTE,
  CMP_LTE,
  CMP_NEQ,
  CT,
  compare,
  dataValue,
  destinationPort,
  expression,
  type IpVersion,
  icmpType,
  immediateVerdict,
  META,
  meta,
  NFPROTO,
  type NftExpression,
  register,
} from './nft-encoding.ts';

// Single expressions that load packet fields into registers and look them up in maps. Registers are addressed by 4-byte word, 0 to 15: an
// IPv4 address takes one word, an IPv6 address four, other fields one. The fields of a composite key take consecutive words.

const IP_CT_DIR_ORIGINAL = 0;
/** NF_CT_STATE_BIT of IP_CT_ESTABLISHED, IP_CT_RELATED and IP_CT_NEW (linux/netfilter/nf_conntrack_common.h). */
const STATE_ESTABLISHED = 2;
const STATE_RELATED = 4;
const STATE_NEW = 8;
const NFT_NG_RANDOM = 1;
const NFT_DYNSET_OP_UPDATE = 1;
const FIB_RESULT_ADDRTYPE = 3;
const FIB_SADDR = 1;
const RTN_LOCAL = 2;
const NAT_DNAT = 1;
const TCP = 6;
const ICMPV6 = 58;
/** ICMPv6 message types for resolving a neighbor's link-layer address (RFC 4861). */
const NEIGHBOUR_SOLICITATION = 135;
const NEIGHBOUR_ADVERTISEMENT = 136;
/** PACKET_BROADCAST and PACKET_MULTICAST (linux/if_packet.h). */
const BROADCAST = 1;
const MULTICAST = 2;
/** enum nft_reject_types, and NFT_REJECT_ICMPX_PORT_UNREACH. */
const REJECT = { tcpReset: 1, icmpx: 2 } as const;
const PORT_UNREACHABLE = 1;
/** NF_NAT_RANGE_PROTO_RANDOM_FULLY (linux/netfilter/nf_nat.h). */
const RANDOM_FULLY = 1 << 4;

/** Returns the number of 4-byte register words that an address occupies. */
export const addressWords = (version: IpVersion): number => (version === 4 ? 1 : 4);

/** Loads the source or destination address of the IP header. */
export const loadAddress = address4or6;

/** Loads the transport protocol (`meta l4proto`). */
export const loadProtocol = (word: number): NftExpression => meta(META.l4proto, word);

/** Loads the destination port of TCP, UDP or SCTP (`th dport`). Matches only the first fragment of a packet. */
export const loadDestinationPort = destinationPort;

/** Loads the connection's original destination address, before NAT (`ct original ip daddr`). */
export const loadOriginalDestination = (version: IpVersion, word: number): NftExpression =>
  originalField(CT.daddr[version], word);

/** Loads the connection's original destination port, before NAT (`ct original proto-dst`). */
export const loadOriginalPort = (word: number): NftExpression => originalField(CT.protoDst, word);

/** Loads a random number from 0 to `modulus` - 1 (`numgen random mod`), in host byte order. */
export const loadRandom = (modulus: number, word: number): NftExpression =>
  expression('numgen', [
    [1, register(word)],
    [2, be32(modulus)],
    [3, be32(NFT_NG_RANDOM)],
    [4, be32(0)],
  ]);

/** Loads a map's value for the key stored in the words from `key` on. Does not match if the map does not contain the key. */
export const lookUp = (map: string, key: number, value: number): NftExpression =>
  expression('lookup', [
    [1, text(map)],
    [2, register(key)],
    [3, register(value)],
  ]);

/** Matches if the set contains the key stored in the words from `key` on. */
export const isInSet = (set: string, key: number): NftExpression =>
  expression('lookup', [
    [1, text(set)],
    [2, register(key)],
  ]);

/** Applies a verdict map's verdict for the key stored in the words from `key` on (`vmap @MAP`). */
export const applyVerdict = (map: string, key: number): NftExpression =>
  expression('lookup', [
    [1, text(map)],
    [2, register(key)],
    [3, be32(0)],
  ]);

/**
 * Adds the key stored in the words from `key` on to a dynamic set, or restarts its timeout if already present (`update @SET { … timeout …
 * }`). Does not match if the set is full.
 */
export const updateSet = (set: string, key: number, timeoutMs: number): NftExpression =>
  expression('dynset', [
    [1, text(set)],
    [3, be32(NFT_DYNSET_OP_UPDATE)],
    [4, register(key)],
    [6, be64(timeoutMs)],
  ]);

/** Loads a constant: an address or a two-byte port. */
export const loadConstant = (value: Buffer, word: number): NftExpression =>
  expression('immediate', [
    [1, register(word)],
    [2, dataValue(value)],
  ]);

/** Translates the destination to the address and port stored in the words `address` and `port` (`dnat`). */
export const translateTo = (version: IpVersion, address: number, port: number): NftExpression =>
  expression('nat', [
    [1, be32(NAT_DNAT)],
    [2, be32(NFPROTO[version])],
    [3, register(address)],
    [5, register(port)],
  ]);

/** Masquerades the source address and randomizes the source port (`masquerade fully-random`). */
export const masqueradeRandomly = (): NftExpression[] => [expression('masq', [[1, be32(RANDOM_FULLY)]])];

/** Passes the packet to another chain without returning (`goto CHAIN`). */
export const goTo = (chain: string): NftExpression[] => [immediateVerdict({ goto: chain })];

/** Matches the packets of a connection before the first reply (`ct state new`). */
export const ofNewConnection = (): NftExpression[] => connectionState(STATE_NEW);

/** Matches packets of established connections and related packets such as ICMP errors (`ct state established,related`). */
export const ofKnownConnection = (): NftExpression[] => connectionState(STATE_ESTABLISHED | STATE_RELATED);

/** Matches a transport protocol by number (`meta l4proto`). */
export const ofProtocol = (protocol: number): NftExpression[] => [meta(META.l4proto, 0), compare(CMP_EQ, u8(protocol))];

/** Matches a range of destination ports (`th dport FIRST-LAST`). */
export const toPorts = (first: number, last: number): NftExpression[] => {
  const load = destinationPort(0);
  if (first === last) return [load, compare(CMP_EQ, be16(first))];
  return [load, compare(CMP_GTE, be16(first)), compare(CMP_LTE, be16(last))];
};

/** Matches the messages that IPv6 requires to reach any neighbor (`icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert }`). */
export const ofNeighbourDiscovery = (): NftExpression[] => [
  ...ofProtocol(ICMPV6),
  icmpType(0),
  compare(CMP_GTE, u8(NEIGHBOUR_SOLICITATION)),
  compare(CMP_LTE, u8(NEIGHBOUR_ADVERTISEMENT)),
];

/** Matches packets sent to several hosts on a link (`meta pkttype { broadcast, multicast }`). */
export const toManyHosts = (): NftExpression[] => [
  meta(META.packetType, 0),
  compare(CMP_GTE, u8(BROADCAST)),
  compare(CMP_LTE, u8(MULTICAST)),
];

/** Matches packets with a source address of this host (`fib saddr type local`). */
export const fromThisHost = (): NftExpression[] => [
  expression('fib', [
    [1, register(0)],
    [2, be32(FIB_RESULT_ADDRTYPE)],
    [3, be32(FIB_SADDR)],
  ]),
  compare(CMP_EQ, u32(RTN_LOCAL)),
];

/** Rejects TCP connections with a reset (`meta l4proto tcp reject with tcp reset`). Does not match other protocols. */
export const refuseTcp = (): NftExpression[] => [
  meta(META.l4proto, 0),
  compare(CMP_EQ, u8(TCP)),
  expression('reject', [
    [1, be32(REJECT.tcpReset)],
    [2, u8(0)],
  ]),
];

/** Rejects packets with ICMP or ICMPv6 `port unreachable` (`reject with icmpx port-unreachable`). */
export const refuse = (): NftExpression[] => [
  expression('reject', [
    [1, be32(REJECT.icmpx)],
    [2, u8(PORT_UNREACHABLE)],
  ]),
];

function connectionState(states: number): NftExpression[] {
  const load = expression('ct', [
    [1, register(0)],
    [2, be32(CT.state)],
  ]);
  return [load, bitwiseAnd(u32(states)), compare(CMP_NEQ, u32(0))];
}

const originalField = (key: number, word: number): NftExpression =>
  expression('ct', [
    [1, register(word)],
    [2, be32(key)],
    [3, u8(IP_CT_DIR_ORIGINAL)],
  ]);
