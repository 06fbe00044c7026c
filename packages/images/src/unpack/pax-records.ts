import { malformed } from './tar-header.ts';

/** A PAX record. The value may contain arbitrary bytes. */
export type PaxRecord = { keyword: string; value: Buffer };

/**
 * Parses the body of a PAX header (POSIX.1-2024, pax): a sequence of `LENGTH KEYWORD=VALUE\n`. Values are delimited by length rather than
 * by a separator, because those of extended attributes are binary.
 */
export function parsePaxRecords(body: Buffer): PaxRecord[] {
  const records: PaxRecord[] = [];
  for (let start = 0; start < body.length; ) {
    const space = body.indexOf(0x20, start);
    const digits = body.toString('latin1', start, space === -1 ? start : Math.min(space, start + 16));
    if (!/^[0-9]{1,8}$/.test(digits)) throw malformed('a PAX record has no length');
    const end = start + Number(digits);
    const equals = body.indexOf(0x3d, space);
    if (end > body.length || equals === -1 || equals >= end || body[end - 1] !== 0x0a) {
      throw malformed(`a PAX record of ${digits} bytes is not of the form KEYWORD=VALUE`);
    }
    records.push({ keyword: body.toString('utf8', space + 1, equals), value: body.subarray(equals + 1, end - 1) });
    start = end;
  }
  return records;
}

/** Parses a number or ID in a PAX record. */
export function paxInteger({ keyword, value }: PaxRecord): number {
  const text = value.toString('latin1');
  const number = Number(text);
  if (!/^[0-9]{1,16}$/.test(text) || !Number.isSafeInteger(number)) {
    throw malformed(`PAX ${keyword} ${JSON.stringify(text.slice(0, 40))} is not a number in range`);
  }
  return number;
}

/** Parses a PAX timestamp. Returns seconds, truncated to microseconds, the highest precision supported by node:fs. */
export function paxTime({ keyword, value }: PaxRecord): number {
  const match = /^(-?[0-9]{1,13})(?:\.([0-9]{0,30}))?$/.exec(value.toString('latin1'));
  if (match === null) throw malformed(`PAX ${keyword} is not a time`);
  return Number(`${match[1]}.${(match[2] ?? '').slice(0, 6)}0`);
}
