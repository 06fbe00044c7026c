/** Metadata that the server sets itself, and metadata that clients cannot change. */
import { randomInt, randomUUID } from 'node:crypto';
import type { ApiObject, JsonObject } from './json.ts';
import { at, isObject, listAt, sameJson } from './json.ts';
import { apiVersionOf, type ResourceKind } from './resource-kinds.ts';
import { badRequest, invalid, type StatusCause } from './status-error.ts';

const GENERATED_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const GENERATED_LENGTH = 5;
const MAX_GENERATED_BASE = 58;
const MAX_NAME = 253;

export const now = (): Date => new Date();

/** The format of creationTimestamp and deletionTimestamp: whole seconds. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

export function randomSuffix(): string {
  return Array.from({ length: GENERATED_LENGTH }, () => GENERATED_ALPHABET[randomInt(GENERATED_ALPHABET.length)]).join(
    '',
  );
}

export const generatedName = (base: string): string => base.slice(0, MAX_GENERATED_BASE) + randomSuffix();

/** Parses a body as an object of the kind. Kind and version must match the URL, and may be omitted. */
export function readObject(kind: ResourceKind, body: unknown, namespace: string): ApiObject {
  if (!isObject(body)) throw badRequest('the body is not an object');
  const version = apiVersionOf(kind);
  if (body.kind !== undefined && body.kind !== kind.kind)
    throw badRequest(`${String(body.kind)} in version "${kind.version}" cannot be handled as a ${kind.kind}`);
  if (body.apiVersion !== undefined && body.apiVersion !== version)
    throw badRequest(
      `the API version in the data (${String(body.apiVersion)}) does not match the expected API version (${version})`,
    );
  const given = isObject(body.metadata) ? body.metadata : {};
  const { selfLink: _, managedFields: __, ...metadata } = given as ApiObject['metadata'];
  if (kind.namespaced && namespace !== '') {
    if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace)
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    metadata.namespace = namespace;
  }
  return { ...body, apiVersion: version, kind: kind.kind, metadata } as ApiObject;
}

/** Metadata of a new object. */
export function newMetadata(kind: ResourceKind, object: ApiObject, date: Date): ApiObject['metadata'] {
  const { generateName, name, resourceVersion: _, uid: __, creationTimestamp: ___, ...rest } = object.metadata;
  const { deletionTimestamp: ____, deletionGracePeriodSeconds: _____, generation: ______, ...kept } = rest;
  return {
    name: name || generatedName(generateName ?? ''),
    ...(generateName ? { generateName } : {}),
    ...(kind.namespaced ? { namespace: object.metadata.namespace } : {}),
    ...withoutEmpty(kept),
    uid: randomUUID(),
    creationTimestamp: timestamp(date),
    ...(kind.generation ? { generation: 1 } : {}),
  };
}

const SERVER_OWNED = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'];

/** Metadata of an updated object: the server's own fields are retained. */
export function changedMetadata(object: ApiObject, old: ApiObject): ApiObject['metadata'] {
  const given = Object.entries(object.metadata).filter(([field]) => !SERVER_OWNED.includes(field));
  const owned = Object.entries(old.metadata).filter(([field]) => SERVER_OWNED.includes(field));
  return {
    ...withoutEmpty(Object.fromEntries([...given, ...owned])),
    name: old.metadata.name,
    resourceVersion: old.metadata.resourceVersion,
  };
}

/** Omits empty maps and lists of metadata, like typed objects. */
function withoutEmpty(metadata: JsonObject): JsonObject {
  const isEmpty = (value: unknown) =>
    value === null ||
    value === undefined ||
    value === '' ||
    (Array.isArray(value) && value.length === 0) ||
    (isObject(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value)));
}

/** Whether the desired state differs: everything but metadata and status. */
export function hasOtherSpec(object: ApiObject, old: ApiObject): boolean {
  const wanted = ({ metadata: _, status: __, ...rest }: ApiObject) => rest;
  return !sameJson(wanted(object), wanted(old));
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function checkMetadata(kind: ResourceKind, object: ApiObject, old?: ApiObject): void {
  const causes = [...nameCauses(kind, object), ...finalizerCauses(object, old)];
  if (causes.length > 0) throw invalid(kind, object.metadata.name ?? '', causes);
}

function nameCauses(kind: ResourceKind, object: ApiObject): StatusCause[] {
  const { name = '', generateName = '' } = object.metadata;
  if (name === '' && generateName === '')
    return [
      {
        reason: 'FieldValueRequired',
        message: 'Required value: name or generateName is required',
        field: 'metadata.name',
      },
    ];
  if (name === '' || (NAME.test(name) && name.length <= MAX_NAME) || kind.group.startsWith('rbac')) return [];
  const message = `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`;
  return [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }];
}

const PLAIN_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes'];

function finalizerCauses(object: ApiObject, old?: ApiObject): StatusCause[] {
  const given = object.metadata.finalizers ?? [];
  const before = old?.metadata.finalizers ?? [];
  const nameless = given.filter((name) => !PLAIN_FINALIZERS.includes(name) && !name.includes('/'));
  const causes = nameless.map((name) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(name)}: name is neither a standard finalizer name nor is it fully qualified`,
    field: 'metadata.finalizers[0]',
  }));
  const added = given.filter((name) => !before.includes(name));
  if (old?.metadata.deletionTimestamp === undefined || added.length === 0) return causes;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  return [...causes, { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' }];
}

/** Whether an object that is being deleted can be removed now. */
export function mayGo(object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  const isHeld =
    finalizers.length > 0 || (object.kind === 'Namespace' && listAt(object, 'spec', 'finalizers').length > 0);
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !isHeld;
}

/** Whether an object is being deleted. */
export const isTerminating = (object: ApiObject): boolean => at(object, 'metadata', 'deletionTimestamp') !== undefined;
