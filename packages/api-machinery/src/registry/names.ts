/** Compares the names and namespaces of objects in request bodies with those in the URL. */
import type { ApiObject } from '@podwright/kube-kinds';
import { type ApiError, badRequest } from '../status/api-error.ts';
import type { ServedKind } from './served-kind.ts';

/**
 * Returns the object with the request's namespace, or without a namespace if the kind is cluster-scoped. Throws if the object has a
 * different namespace.
 */
export function inNamespace({ resource }: ServedKind, object: ApiObject, namespace: string): ApiObject {
  const expected = resource.namespaced ? namespace : '';
  const { namespace: given = '', ...metadata } = object.metadata;
  if (given !== '' && expected !== '' && given !== expected)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (given === expected) return object;
  return { ...object, metadata: { ...metadata, ...(expected === '' ? {} : { namespace: expected }) } };
}

/** Throws unless the object has the name in the URL. */
export function checkName({ metadata }: ApiObject, name: string): void {
  if (!metadata.name) throw undeterminableName(name);
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
}

export const undeterminableName = (name: string): ApiError =>
  badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
