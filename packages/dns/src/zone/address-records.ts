import { TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import type { AddressRecord } from '../wire/record.ts';
import { TTL_SECONDS } from './zone-authority.ts';

/** Returns the records for the addresses of the question's family, beginning with the one at `turn` modulo their number. */
export function addressRecords(question: Question, addresses: readonly string[], turn: number): AddressRecord[] {
  const family = question.type === TYPE.A ? 'A' : question.type === TYPE.AAAA ? 'AAAA' : undefined;
  if (family === undefined) return [];
  const matching = addresses.filter((address) => familyOf(address) === family);
  const first = matching.length > 1 ? turn % matching.length : 0;
  const ordered = [...matching.slice(first), ...matching.slice(0, first)];
  return ordered.map((address) => addressRecord(question.name, address));
}

export function addressRecord(name: string, address: string): AddressRecord {
  return { name, ttl: TTL_SECONDS, type: familyOf(address), address };
}

const familyOf = (address: string): 'A' | 'AAAA' => (address.includes(':') ? 'AAAA' : 'A');
