import type { LocalObjectReference, ObjectMeta, OwnerReference } from '../objects/types.ts';
import { boolean, type Decoder, type Fields, int64, integer, list, mapOf, object, string } from './decoder.ts';

const ownerReference = object<OwnerReference>(
  { apiVersion: string, kind: string, name: string, uid: string, controller: boolean, blockOwnerDeletion: boolean },
  { required: ['apiVersion', 'kind', 'name', 'uid'] },
);

const BY_THE_API_SERVER = 'is only for API servers; remove it';

/** Why `generateName` is not allowed in manifests. */
export const NO_GENERATED_NAMES = 'would make another object with each apply; give metadata.name instead';

const FIELDS: Fields<ObjectMeta> = {
  name: string,
  namespace: string,
  uid: string,
  labels: mapOf(string),
  annotations: mapOf(string),
  creationTimestamp: string,
  deletionTimestamp: string,
  deletionGracePeriodSeconds: integer(0),
  generation: int64,
  resourceVersion: string,
  ownerReferences: list(ownerReference),
  finalizers: list(string),
};
const serverOnly = {
  generateName: NO_GENERATED_NAMES,
  managedFields: BY_THE_API_SERVER,
  selfLink: BY_THE_API_SERVER,
};
const named = object(FIELDS, { required: ['name'], serverOnly });
const nameless = object(FIELDS, { serverOnly });

/**
 * meta/v1 ObjectMeta. If `name` is set, `generateName` is ignored: objects returned by an API server may have both. Otherwise, only the
 * rejected `generateName` is reported, and not the missing name as well.
 */
export const objectMeta: Decoder<ObjectMeta> = (value, issues) => {
  const given = (value ?? {}) as { name?: unknown; generateName?: unknown };
  if (given.generateName === undefined) return named(value, issues);
  const { generateName, ...others } = given;
  return typeof generateName === 'string' && others.name !== undefined
    ? named(others, issues)
    : nameless(value, issues);
};

export const localObjectReference = object<LocalObjectReference>({ name: string }, { required: ['name'] });
