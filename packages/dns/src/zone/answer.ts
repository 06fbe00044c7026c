/**
 * Answers questions about the cluster's names as specified by Kubernetes DNS-Based Service Discovery 1.1.0. Where that leaves a choice,
 * follows CoreDNS's kubernetes plugin as configured by default in clusters (`pods insecure`, `ttl 30`). Pure.
 */
import { reverseKey } from '../wire/addresses.ts';
import { isWithin, lowered } from '../wire/names.ts';
import { RCODE, TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import type { ResourceRecord } from '../wire/record.ts';
import { addressRecord, addressRecords, type Choice } from './address-records.ts';
import type { ClusterRecords, FoundName } from './cluster-records.ts';
import { findName } from './find-name.ts';
import { serviceRecords } from './service-records.ts';
import { authorityOf, TTL_SECONDS } from './zone-authority.ts';

/** An authoritative answer about a name of the cluster. */
export type Answer = {
  rcode: number;
  answers: ResourceRecord[];
  authorities: ResourceRecord[];
  additionals: ResourceRecord[];
  /**
   * The target of the alias in the last of `answers`, if it is outside the cluster. The caller must still resolve it and add its records.
   */
  alias?: string;
};

/**
 * Version of the Kubernetes DNS specification, published as a TXT record (section 2.2 of the specification). As in CoreDNS, clients may
 * cache the record for `VERSION_TTL_SECONDS`.
 */
const SCHEMA_VERSION = '1.1.0';
const VERSION_TTL_SECONDS = 28_800;

/** Maximum length of a chain of aliases, as in CoreDNS. */
const MAX_ALIASES = 10;

/**
 * Returns the answer to a question of class IN, or `undefined` if the name does not belong to the cluster. The addresses are rotated to
 * start at `turn` modulo their number. An answer has at most `limit` records.
 */
export function answer(
  question: Question,
  records: ClusterRecords,
  { turn = 0, limit = Number.POSITIVE_INFINITY }: Partial<Choice> = {},
): Answer | undefined {
  const name = lowered(question.name);
  if (!isWithin(name, records.domain)) return reverseAnswer(question, records, limit);
  if (question.type === TYPE.AXFR || question.type === TYPE.IXFR) return empty(RCODE.REFUSED);
  const found = findName(name, records);
  if (found === undefined) return negative(records, RCODE.NXDOMAIN);
  if (found.kind === 'alias') return aliasAnswer(question, found.target, { records, turn, limit });
  const result = positive(question, found, { records, turn, limit });
  return result.answers.length > 0 ? result : negative(records, RCODE.NOERROR);
}

type Context = Choice & { records: ClusterRecords };

function empty(rcode: number): Answer {
  return { rcode, answers: [], authorities: [], additionals: [] };
}

/** Returns the answer for a name that does not exist (NXDOMAIN) or has no records of the queried type (RFC 2308). */
function negative(records: ClusterRecords, rcode: number): Answer {
  if (rcode === RCODE.NXDOMAIN && !records.isComplete) return empty(RCODE.SERVFAIL);
  return { ...empty(rcode), authorities: [authorityOf(records)] };
}

function reverseAnswer(question: Question, records: ClusterRecords, limit: number): Answer | undefined {
  const key = question.type === TYPE.PTR ? reverseKey(lowered(question.name)) : undefined;
  const names = key === undefined ? [] : records.namesOf(key);
  if (names.length === 0) return undefined;
  const answers = names
    .slice(0, limit)
    .map((relative): ResourceRecord => ({ ...own(question), type: 'PTR', target: `${relative}.${records.domain}` }));
  return { ...empty(RCODE.NOERROR), answers };
}

const own = ({ name }: Question) => ({ name, ttl: TTL_SECONDS });

function positive(question: Question, found: Exclude<FoundName, { kind: 'alias' }>, context: Context): Answer {
  const { records, limit } = context;
  const result = empty(RCODE.NOERROR);
  switch (found.kind) {
    case 'apex':
      return { ...result, ...apexRecords(question, records) };
    case 'version':
      if (question.type !== TYPE.TXT) return result;
      return {
        ...result,
        answers: [{ name: question.name, ttl: VERSION_TTL_SECONDS, type: 'TXT', text: SCHEMA_VERSION }],
      };
    case 'addresses':
      if (question.type !== TYPE.SRV) return { ...result, answers: addressRecords(question, found.addresses, context) };
      return { ...result, ...serviceRecords(question, found.targets, { domain: records.domain, limit }) };
    case 'service':
      return { ...result, ...serviceRecords(question, found.targets, { domain: records.domain, limit }) };
    case 'branch':
      return result;
  }
}

function apexRecords(question: Question, records: ClusterRecords): Pick<Answer, 'answers' | 'additionals'> {
  const authority = authorityOf(records);
  if (question.type === TYPE.SOA) return { answers: [{ ...authority, name: question.name }], additionals: [] };
  if (question.type !== TYPE.NS) return { answers: [], additionals: [] };
  return {
    answers: [{ ...own(question), type: 'NS', target: authority.primary }],
    additionals: records.serverAddresses.map((address) => addressRecord(authority.primary, address)),
  };
}

/** Returns the alias and, if its target is in the cluster, the target's records, following further aliases. */
function aliasAnswer(question: Question, first: string, context: Context): Answer {
  const { records } = context;
  const answers: ResourceRecord[] = [];
  let name = question.name;
  let target = first;
  for (let count = 0; count < MAX_ALIASES; count++) {
    answers.push({ name, ttl: TTL_SECONDS, type: 'CNAME', target });
    if (question.type === TYPE.CNAME) return { ...empty(RCODE.NOERROR), answers };
    const wanted = lowered(target);
    if (!isWithin(wanted, records.domain)) return { ...empty(RCODE.NOERROR), answers, alias: target };
    const found = findName(wanted, records);
    if (found === undefined) return { ...negative(records, RCODE.NXDOMAIN), answers };
    if (found.kind !== 'alias') {
      const rest = positive({ ...question, name: target }, found, context);
      if (rest.answers.length === 0) return { ...negative(records, RCODE.NOERROR), answers };
      return { ...rest, answers: [...answers, ...rest.answers] };
    }
    name = target;
    target = found.target;
  }
  return empty(RCODE.SERVFAIL); // a loop of aliases
}
