/** Constants of the DNS protocol (IANA "Domain Name System Parameters"). */

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
} as const;

export const CLASS_IN = 1;
export const OPCODE_QUERY = 0;

export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const;

/** Bits of the header's second 16-bit word (RFC 1035, section 4.1.1; RFC 4035, section 3). */
export const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  authenticData: 0x0020,
  checkingDisabled: 0x0010,
} as const;

export const HEADER_BYTES = 12;

/** Maximum size of a UDP response to a client without EDNS (RFC 1035, section 4.2.1). */
export const MIN_UDP_BYTES = 512;

/** Maximum size of a UDP response, and the size advertised to resolvers. Fits in one packet on most networks (DNS Flag Day 2020). */
export const MAX_UDP_BYTES = 1232;

/** Maximum size of a message, because TCP's length prefix has 16 bits. */
export const MAX_MESSAGE_BYTES = 65_535;

/** Size of an OPT record without options. */
export const OPT_BYTES = 11;
