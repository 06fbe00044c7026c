import { type Attribute, be32, text } from './message.ts';
import { nfProtocols } from './nfnetlink.ts';

/**
 * Expressions of nf_tables rules (linux/netfilter/nf_tables.h). The kernel evaluates a rule's expressions in order, using a set of
 * registers, and stops at the first that does not match.
 */
export type NftExpression = Attribute;

export type IpVersion = 4 | 6;

// enum nft_list_attributes, nft_expr_attributes and nft_data_attributes.
const NFTA_LIST_ELEM = 1;
const NFTA_EXPR_NAME = 1;
const NFTA_EXPR_DATA = 2;
const NFTA_DATA_VALUE = 1;
const NFTA_DATA_VERDICT = 2;

export const NFPROTO = { 4: nfProtocols.ip, 6: nfProtocols.ip6 } as const;
/** enum nft_meta_keys. */
export const META = { iifname: 6, oifname: 7, nfproto: 15, l4proto: 16, packetType: 19 } as const;
/** enum nft_payload_bases. */
const NETWORK_HEADER = 1;
const TRANSPORT_HEADER = 2;
/** Offsets of the addresses in an IP header, and their size. */
export const ADDRESS_FIELDS = {
  4: { saddr: 12, daddr: 16, bytes: 4 },
  6: { saddr: 8, daddr: 24, bytes: 16 },
} as const;
/** enum nft_cmp_ops. */
export const CMP_EQ = 0;
export const CMP_NEQ = 1;
export const CMP_LTE = 3;
export const CMP_GTE = 5;
/** enum nft_ct_keys and nft_ct_attributes (linux/netfilter/nf_tables.h). */
export const CT = { state: 0, status: 2, protoDst: 12, daddr: { 4: 20, 6: 22 } } as const;
/** enum nft_verdicts, and NF_DROP and NF_ACCEPT (linux/netfilter.h). */
const VERDICTS = { drop: 0, accept: 1, jump: -3, goto: -4, return: -5 } as const;
const REGISTER_VERDICT = 0;

/** The fate of a packet: drop, accept, pass it to another chain of the table, or return to the calling chain. */
export type NftVerdict = 'accept' | 'drop' | 'return' | { jump: string } | { goto: string };

/** Encodes a data value as an attribute. */
export const dataValue = (value: Buffer): Attribute[] => [[NFTA_DATA_VALUE, value]];

/** Encodes a verdict as an attribute. */
export function dataVerdict(verdict: NftVerdict): Attribute[] {
  if (typeof verdict === 'string') return [[NFTA_DATA_VERDICT, [[1, be32(VERDICTS[verdict] >>> 0)]]]];
  const [code, chain] = 'jump' in verdict ? [VERDICTS.jump, verdict.jump] : [VERDICTS.goto, verdict.goto];
  return [
    [
      NFTA_DATA_VERDICT,
      [
        [1, be32(code >>> 0)],
        [2, text(chain)],
      ],
    ],
  ];
}

export const immediateVerdict = (verdict: NftVerdict): NftExpression =>
  expression('immediate', [
    [1, be32(REGISTER_VERDICT)],
    [2, dataVerdict(verdict)],
  ]);

export const meta = (key: number, word: number): NftExpression =>
  expression('meta', [
    [1, register(word)],
    [2, be32(key)],
  ]);

/** Loads an address from the IP header. */
export function address4or6(field: 'saddr' | 'daddr', version: IpVersion, word = 0): NftExpression {
  const { [field]: offset, bytes } = ADDRESS_FIELDS[version];
  return payload({ base: NETWORK_HEADER, offset, bytes }, word);
}

/** Loads the destination port, which is at the same offset for TCP, UDP and SCTP. */
export const destinationPort = (word: number): NftExpression =>
  payload({ base: TRANSPORT_HEADER, offset: 2, bytes: 2 }, word);

/** Loads the ICMP or ICMPv6 message type (`icmpv6 type`). */
export const icmpType = (word: number): NftExpression => payload({ base: TRANSPORT_HEADER, offset: 0, bytes: 1 }, word);

const payload = (field: { base: number; offset: number; bytes: number }, word: number): NftExpression =>
  expression('payload', [
    [1, register(word)],
    [2, be32(field.base)],
    [3, be32(field.offset)],
    [4, be32(field.bytes)],
  ]);

export const bitwiseAnd = (mask: Buffer): NftExpression =>
  expression('bitwise', [
    [1, register(0)],
    [2, register(0)],
    [3, be32(mask.length)],
    [4, dataValue(mask)],
    [5, dataValue(Buffer.alloc(mask.length))],
  ]);

export const compare = (operator: number, value: Buffer): NftExpression =>
  expression('cmp', [
    [1, register(0)],
    [2, be32(operator)],
    [3, dataValue(value)],
  ]);

/** Returns the register number for a 4-byte word: 16-byte registers count from NFT_REG_1, 4-byte registers from NFT_REG32_00. */
export const register = (word: number): Buffer => be32(word % 4 === 0 ? 1 + word / 4 : 8 + word);

export const expression = (name: string, attributes: Attribute[]): NftExpression => [
  NFTA_LIST_ELEM,
  [
    [NFTA_EXPR_NAME, text(name)],
    [NFTA_EXPR_DATA, attributes],
  ],
];
