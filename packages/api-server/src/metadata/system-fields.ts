/** Metadata that the server sets itself. */
import { randomInt, randomUUID } from 'node:crypto';
import type { ApiObject } from '@podwright/kube-kinds';
import { timestamp } from '../timestamp.ts';

type Metadata = ApiObject['metadata'];

/** Consonants and digits that form no words and are not confused. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Leaves room for the suffix in a DNS label. */
const MAX_BASE = 58;

/** A name for an object with a `generateName`. */
export const generateName = (base: string): string => base.slice(0, MAX_BASE) + randomSuffix();

const randomSuffix = (): string =>
  Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** Removes the fields of a new object that clients cannot set. */
export function withoutSystemFields(metadata: Metadata): Metadata {
  const { uid: _, creationTimestamp: __, deletionTimestamp: ___, deletionGracePeriodSeconds: ____, ...rest } = metadata;
  const { selfLink: _____, ...others } = rest;
  return others as Metadata;
}

/** Sets the UID, the time of creation and, if there is none, the name of a new object. */
export function withSystemFields(metadata: Metadata, nowMs: number): Metadata {
  const { name, generateName: base, namespace, ...others } = metadata;
  return {
    ...(name ? { name } : base ? { name: generateName(base) } : {}),
    ...(base ? { generateName: base } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    uid: randomUUID(),
    creationTimestamp: timestamp(nowMs),
    ...others,
  } as Metadata;
}

/**
 * Restores the fields that an update cannot change, whether the client changed or removed them. A changed UID and changed times of deletion
 * remain, because validation rejects them.
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
