import type { SkippedRecord } from '../wire/message-records.ts';
import { readName } from '../wire/names.ts';
import { TYPE } from '../wire/numbers.ts';
import type { ResourceRecord } from '../wire/record.ts';
import { saneTtl, type UpstreamAnswer } from './upstream-answer.ts';

/** Maximum number of records read from a response; more would not fit in a UDP response. */
const MAX_RECORDS = 100;

/** Returns the addresses and aliases in a response, for adding to another response. `maxTtlSeconds` caps their TTLs. */
export function aliasRecords({ message, records }: UpstreamAnswer, maxTtlSeconds: number): ResourceRecord[] {
  return records
    .filter(({ section }) => section === 'answer')
    .slice(0, MAX_RECORDS)
    .flatMap((record) => readRecord(message, record, maxTtlSeconds));
}

function readRecord(message: Buffer, record: SkippedRecord, maxTtlSeconds: number): ResourceRecord[] {
  const { start, type, dataOffset, end } = record;
  const { name } = readName(message, start);
  const ttl = Math.min(saneTtl(record.ttl), maxTtlSeconds);
  if (type === TYPE.CNAME) return [{ name, ttl, type: 'CNAME', target: readName(message, dataOffset).name }];
  const data = message.subarray(dataOffset, end);
  if (type === TYPE.A && data.length === 4) return [{ name, ttl, type: 'A', address: data.join('.') }];
  if (type === TYPE.AAAA && data.length === 16) return [{ name, ttl, type: 'AAAA', address: ipv6Text(data) }];
  return [];
}

function ipv6Text(bytes: Buffer): string {
  return bytes.toString('hex').match(/.{4}/g)!.join(':');
}
