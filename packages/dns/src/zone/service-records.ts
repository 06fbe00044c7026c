import { TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import type { ResourceRecord } from '../wire/record.ts';
import { addressRecord } from './address-records.ts';
import type { ServiceTarget } from './find-name.ts';
import { TTL_SECONDS } from './zone-authority.ts';

/**
 * Returns the SRV records of targets, and the addresses of the targets as additional records. All have priority 0, and equal shares of the
 * weight 100, as in CoreDNS.
 */
export function serviceRecords(
  question: Question,
  targets: readonly ServiceTarget[],
  domain: string,
): { answers: ResourceRecord[]; additionals: ResourceRecord[] } {
  if (question.type !== TYPE.SRV) return { answers: [], additionals: [] };
  const distinct = new Map(targets.map((target) => [`${target.relative} ${target.port}`, target]));
  const weight = Math.max(1, Math.floor(100 / distinct.size));
  const answers = [...distinct.values()].map(
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
  const places = targets.flatMap(({ relative, addresses }) => addresses.map((address) => [relative, address] as const));
  const addresses = new Map(places.map(([relative, address]) => [`${relative} ${address}`, { relative, address }]));
  return {
    answers,
    additionals: [...addresses.values()].map(({ relative, address }) =>
      addressRecord(`${relative}.${domain}`, address),
    ),
  };
}
