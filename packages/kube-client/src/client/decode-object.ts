import { isRecord, PodwrightError } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import type { ListOf } from '../kube-client.ts';

/** Decodes an API object from a response. Errors never quote the response, which might contain a Secret. */
export function decodeObject<T extends KubeObject>(what: string, text: string): T {
  const value = parse(what, text);
  if (!isRecord(value)) throw notAnObject(what);
  value.metadata ??= {}; // reviews have no metadata
  if (!isRecord(value.metadata)) throw notAnObject(what);
  return value as unknown as T;
}

/** Decodes a list response, and adds the `apiVersion` and `kind` that its items lack. */
export function decodeList<T extends KubeObject>(what: string, text: string, resource: Resource): ListOf<T> {
  const value = parse(what, text);
  if (!isRecord(value) || !isRecord(value.metadata)) throw notAnObject(what);
  const items = value.items ?? [];
  if (!Array.isArray(items) || !items.every((item) => isRecord(item) && isRecord(item.metadata)))
    throw notAnObject(what);
  const { group, version, kind } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { metadata: value.metadata, items: items.map((item) => ({ apiVersion, kind, ...item })) };
}

function parse(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PodwrightError('internal', `${what}: the response is not JSON (${text.length} characters)`);
  }
}

function notAnObject(what: string): PodwrightError {
  return new PodwrightError('internal', `${what}: the response is not an API object`);
}
