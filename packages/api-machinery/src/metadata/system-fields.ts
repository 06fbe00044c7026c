/** Metadata fields set by the server. */
import { randomInt, randomUUID } from 'node:crypto';
import type { ApiObject } from '@podwright/kube-kinds';
import { timestamp } from '../timestamp.ts';

type Metadata = ApiObject['metadata'];

/** Consonants and digits that do not form words and are not easily confused. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Maximum length of a name before the random suffix, which leaves room for the suffix within the 63 characters of a DNS label. */
const MAX_BASE = 58;

/** Returns a random name starting with an object's `generateName`. */
export const generateName = (base: string): string => base.slice(0, MAX_BASE) + randomSuffix();

const randomSuffix = (): string =>
  Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** Removes fields that clients cannot set on a new object. */
export function withoutSystemFields(metadata: Metadata): Metadata {
  const { uid: _, creationTimestamp: __, deletionTimestamp: ___, deletionGracePeriodSeconds: ____, ...rest } = metadata;
  const { selfLink: _____, ...others } = rest;
  return others as Metadata;
}

/** Sets the UID and creation timestamp of a new object, which admission cannot choose, and generates its name if it has none. */
export function withSystemFields(metadata: Metadata, nowMs: number): Metadata {
  const { name, generateName: base, namespace, ...others } = metadata;
  return {
    ...(name ? { name } : base ? { name: generateName(base) } : {}),
    ...(base ? { generateName: base } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    ...others,
    uid: randomUUID(),
    creationTimestamp: timestamp(nowMs),
  } as Metadata;
}

/**
 * Restores fields that an update cannot change or remove. Some changes are left for validation to reject: a different UID or deletion grace
 * period, and a deletion timestamp on an object that had none.
 */
export function withRetainedFields(metadata: Metadata, old: Metadata): Metadata {
  const { selfLink: _, generation: __, ...given } = metadata;
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old;
  const retained = { creationTimestamp, deletionTimestamp, generation };
  return {
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    ...given,
    uid: given.uid || uid,
    ...Object.fromEntries(Object.entries(retained).filter(([, value]) => value !== undefined)),
  } as Metadata;
}
