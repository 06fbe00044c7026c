import { MAX_UDP_BYTES, OPT_BYTES, TYPE } from './numbers.ts';

/** Returns an OPT record without options (RFC 6891, section 6.1). `highCode` is the upper eight bits of the response code. */
export function optRecord({ highCode, dnssecOk }: { highCode: number; dnssecOk: boolean }): Buffer {
  const record = Buffer.alloc(OPT_BYTES); // begins with the name of the root
  record.writeUInt16BE(TYPE.OPT, 1);
  record.writeUInt16BE(MAX_UDP_BYTES, 3);
  record.writeUInt8(highCode, 5);
  record.writeUInt16BE(dnssecOk ? 0x8000 : 0, 7);
  return record;
}
