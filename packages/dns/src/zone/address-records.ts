import { TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import type { AddressRecord } from '../wire/record.ts';
import type { Addresses } from './cluster-records.ts';
import { TTL_SECONDS } from './zone-authority.ts';

/** Selects the records for an answer: at most `limit` of them, starting at index `turn` modulo their number and wrapping around. */
export type Choice = { turn: number; limit: number };

/** Returns the records for the addresses of the question's address family. */
export function addressRecords(question: Question, addresses: Addresses, { turn, limit }: Choice): AddressRecord[] {
  const family = question.type === TYPE.A ? 'A' : question.type === TYPE.AAAA ? 'AAAA' : undefined;
  if (family === undefined) return [];
  const all = addresses[family];
  const first = all.length > 1 ? turn % all.length : 0;
  const chosen = [
    ...all.slice(first, first + limit),
    ...all.slice(0, Math.min(first, Math.max(0, first + limit - all.length))),
  ];
  return chosen.map((address) => ({ name: question.name, ttl: TTL_SECONDS, type: family, address }));
}

export function addressRecord(name: string, address: string): AddressRecord {
  return { name, ttl: TTL_SECONDS, type: address.includes(':') ? 'AAAA' : 'A', address };
}
