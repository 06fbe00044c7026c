import { TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import type { ResourceRecord } from '../wire/record.ts';
import { addressRecord } from './address-records.ts';
import type { Targets } from './cluster-records.ts';
import { TTL_SECONDS } from './zone-authority.ts';

/** Total weight of a name's SRV records, divided equally among their targets. */
const WEIGHT = 100;

/**
 * Returns the SRV records for at most `limit` targets, with the targets' addresses as additional records. As in CoreDNS, all have priority
 * 0 and an equal share of the total weight.
 */
export function serviceRecords(
  question: Question,
  targets: Targets,
  { domain, limit }: { domain: string; limit: number },
): { answers: ResourceRecord[]; additionals: ResourceRecord[] } {
  if (question.type !== TYPE.SRV) return { answers: [], additionals: [] };
  const all = targets(Math.max(limit, WEIGHT));
  const weight = Math.max(1, Math.floor(WEIGHT / all.length));
  const chosen = all.slice(0, limit);
  const answers = chosen.map(
    ({ relative, port }): ResourceRecord => ({
      name: question.name,
      ttl: TTL_SECONDS,
      type: 'SRV',
      priority: 0,
      weight,
      port,
      target: `${relative}.${domain}`,
    }),
  );
  const named = new Map(chosen.map(({ relative, addresses }) => [relative, addresses]));
  const additionals = [...named].flatMap(([relative, addresses]) =>
    addresses.map((address) => addressRecord(`${relative}.${domain}`, address)),
  );
  return { answers, additionals };
}
