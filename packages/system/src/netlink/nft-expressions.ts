import { addressBytes, prefixMask } from './ip-address.ts';
import { type Attribute, be32, text, u8, u32 } from './message.ts';
import { nfProtocols } from './nfnetlink.ts';

/**
 * Expressions of nf_tables rules (linux/netfilter/nf_tables.h). The kernel evaluates a rule's expressions in order on a set of registers,
 * and stops at the first one that does not match. Each function here returns the expressions that nft(8) generates for one statement.
 */
export type NftExpression = Attribute;

export type IpVersion = 4 | 6;

// enum nft_list_attributes, nft_expr_attributes and nft_data_attributes.
const NFTA_LIST_ELEM = 1;
const NFTA_EXPR_NAME = 1;
const NFTA_EXPR_DATA = 2;
const NFTA_DATA_VALUE = 1;
const NFTA_DATA_VERDICT = 2;

const NFPROTO = { 4: nfProtocols.ip, 6: nfProtocols.ip6 } as const;
/** enum nft_meta_keys. */
const META = { iifname: 6, oifname: 7, nfproto: 15, l4proto: 16 } as const;
/** Size of an interface name including its terminating NUL. Names are compared over the full length. */
const IFNAMSIZ = 16;
/** Offsets of the address fields in an IP header, and the address size. */
const ADDRESS_FIELDS = {
  4: { saddr: 12, daddr: 16, bytes: 4 },
  6: { saddr: 8, daddr: 24, bytes: 16 },
} as const;
/** enum nft_payload_bases. */
const NETWORK_HEADER = 1;
const TRANSPORT_HEADER = 2;
const CMP_EQ = 0;
const CMP_NEQ = 1;
/** NFT_CT_STATUS, and its bit for a translated destination (nf_conntrack_common.h). */
const CT_STATUS = 2;
const IPS_DST_NAT = 1 << 5;
/** NFT_FIB_RESULT_ADDRTYPE, NFTA_FIB_F_DADDR, and the type of local addresses (linux/rtnetlink.h). */
const FIB_RESULT_ADDRTYPE = 3;
const FIB_DADDR = 1 << 1;
const RTN_LOCAL = 2;
const NAT_DNAT = 1;
/** enum nft_verdicts, and NF_DROP and NF_ACCEPT (linux/netfilter.h). */
const VERDICTS = { drop: 0, accept: 1, jump: -3 } as const;
const REGISTER_VERDICT = 0;

/** Matches the IP version (`meta nfproto ipv4` or `ipv6`). Required in an `inet` table before expressions that read header fields. */
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

/** Matches a destination address that is in a set (`ip daddr @SET`). */
export const daddrIn = (version: IpVersion, set: string): NftExpression[] => [
  address4or6('daddr', version),
  expression('lookup', [
    [1, text(set)],
    [2, register(0)],
  ]),
];

/** Matches connections whose destination has been translated (`ct status dnat`). */
export const destinationTranslated = (): NftExpression[] => [
  expression('ct', [
    [1, register(0)],
    [2, be32(CT_STATUS)],
  ]),
  bitwiseAnd(u32(IPS_DST_NAT)),
  compare(CMP_NEQ, u32(0)),
];

/** Matches packets that are addressed to this host (`fib daddr type local`). */
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
 * packet's protocol and port, and also for its destination address if the map's key includes one.
 */
export function translateDestination(version: IpVersion, map: string, keyHasAddress: boolean): NftExpression[] {
  const words = ADDRESS_FIELDS[version].bytes / 4;
  const start = keyHasAddress ? words : 0;
  return [
    ...(keyHasAddress ? [...ofVersion(version), address4or6('daddr', version)] : []),
    meta(META.l4proto, start),
    payload({ base: TRANSPORT_HEADER, offset: 2, bytes: 2 }, start + 1),
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

/** Accepts or drops the packet (`accept`, `drop`). */
export const verdict = (name: 'accept' | 'drop'): NftExpression[] => [immediateVerdict([[1, be32(VERDICTS[name])]])];

/** Jumps to another chain (`jump CHAIN`). */
export const jump = (chain: string): NftExpression[] => [
  immediateVerdict([
    [1, be32(VERDICTS.jump >>> 0)],
    [2, text(chain)],
  ]),
];

/** Encodes a data value as an attribute. */
export const dataValue = (value: Buffer): Attribute[] => [[NFTA_DATA_VALUE, value]];

const immediateVerdict = (attributes: Attribute[]): NftExpression =>
  expression('immediate', [
    [1, be32(REGISTER_VERDICT)],
    [2, [[NFTA_DATA_VERDICT, attributes]]],
  ]);

const meta = (key: number, word: number): NftExpression =>
  expression('meta', [
    [1, register(word)],
    [2, be32(key)],
  ]);

function address4or6(field: 'saddr' | 'daddr', version: IpVersion): NftExpression {
  const { [field]: offset, bytes } = ADDRESS_FIELDS[version];
  return payload({ base: NETWORK_HEADER, offset, bytes }, 0);
}

const payload = (field: { base: number; offset: number; bytes: number }, word: number): NftExpression =>
  expression('payload', [
    [1, register(word)],
    [2, be32(field.base)],
    [3, be32(field.offset)],
    [4, be32(field.bytes)],
  ]);

const bitwiseAnd = (mask: Buffer): NftExpression =>
  expression('bitwise', [
    [1, register(0)],
    [2, register(0)],
    [3, be32(mask.length)],
    [4, dataValue(mask)],
    [5, dataValue(Buffer.alloc(mask.length))],
  ]);

const compare = (operator: number, value: Buffer): NftExpression =>
  expression('cmp', [
    [1, register(0)],
    [2, be32(operator)],
    [3, dataValue(value)],
  ]);

/** Returns the register number for a 4-byte word. 16-byte registers are numbered from NFT_REG_1, 4-byte registers from NFT_REG32_00. */
const register = (word: number): Buffer => be32(word % 4 === 0 ? 1 + word / 4 : 8 + word);

const expression = (name: string, attributes: Attribute[]): NftExpression => [
  NFTA_LIST_ELEM,
  [
    [NFTA_EXPR_NAME, text(name)],
    [NFTA_EXPR_DATA, attributes],
  ],
];
