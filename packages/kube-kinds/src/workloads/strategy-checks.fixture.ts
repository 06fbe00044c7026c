/** Runs objects through a strategy as the API server does: decodes, sets defaults, prepares and validates. */
import assert from 'node:assert/strict';
import { decodeJson, Schema } from '@podwright/kube-schema';
import type { ApiObject } from '../api-object.ts';
import type { FieldError } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { isObject, type JsonObject, valueAt, withValue } from '../values.ts';
import { WORKLOAD_STRATEGIES } from './workloads.ts';

const schema = await Schema.load();
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

export type TestObject = { apiVersion: string; kind: string; metadata?: JsonObject; [field: string]: unknown };

export function decode(object: TestObject): ApiObject {
  const type = schema.kindOf(object);
  assert.ok(type, `${object.apiVersion} ${object.kind} is a kind`);
  const { object: decoded, problems } = decodeJson(object, { schema, type });
  assert.deepEqual(problems, []);
  return decoded as ApiObject;
}

export const strategyOf = (resource: string): Strategy => {
  const strategy = WORKLOAD_STRATEGIES[resource];
  assert.ok(strategy, `${resource} has a strategy`);
  return strategy;
};

export const withDefaults = (resource: string, object: TestObject): ApiObject =>
  strategyOf(resource).applyDefaults?.(decode(object)) ?? decode(object);

/** Returns the object as stored after its creation, without generated metadata. */
export function created(resource: string, object: TestObject): ApiObject {
  const complete = withDefaults(resource, object);
  const context = { user: { username: 'admin', groups: [] }, nowMs: NOW_MS };
  return strategyOf(resource).prepareForCreate?.(complete, context) ?? complete;
}

export const shown = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`);

export const createErrors = (resource: string, object: TestObject): string[] =>
  shown(strategyOf(resource).validate?.(created(resource, object)) ?? []);

export function updateErrors(resource: string, old: ApiObject, change: (object: ApiObject) => ApiObject): string[] {
  const strategy = strategyOf(resource);
  const changed = change(structuredClone(old));
  const complete = strategy.applyDefaults?.(changed) ?? changed;
  const prepared = strategy.prepareForUpdate?.(complete, old) ?? complete;
  return shown(strategy.validateUpdate?.(prepared, old) ?? []);
}

export function updateSubresource(
  { resource, name }: { resource: string; name: string },
  old: ApiObject,
  change: (object: ApiObject) => ApiObject,
): { object: ApiObject; errors: string[] } {
  const strategy = strategyOf(resource);
  const subresource = strategy.subresources?.[name];
  assert.ok(subresource, `${resource}/${name} is a subresource`);
  const changed = change(structuredClone(old));
  const object = subresource.prepareForUpdate(strategy.applyDefaults?.(changed) ?? changed, old);
  return { object, errors: shown(subresource.validateUpdate?.(object, old) ?? []) };
}

/** Returns a copy with values set at paths such as `spec.containers.0.image`; `undefined` removes a field. */
export function set<T extends JsonObject>(object: T, changes: Readonly<Record<string, unknown>>): T {
  let result = structuredClone(object);
  for (const [path, value] of Object.entries(changes)) result = setAt(result, path.split('.'), value) as T;
  return result;
}

function setAt(holder: unknown, [step, ...rest]: string[], value: unknown): unknown {
  const inner = rest.length === 0 ? value : setAt(valueAt(holder, step!), rest, value);
  if (!Array.isArray(holder)) return withValue(isObject(holder) ? holder : {}, [step!], inner);
  const copy = [...holder];
  copy[Number(step)] = inner;
  return copy.filter((one) => one !== undefined);
}

const CONTAINER = { name: 'web', image: 'nginx:1.29' };

export const POD: TestObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: [CONTAINER] },
};

const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [CONTAINER] } };

export const workload = (apiVersion: string, kind: string, spec: JsonObject = {}): TestObject => ({
  apiVersion,
  kind,
  metadata: { name: 'web', namespace: 'default', uid: 'b1946ac9-2d1f-4c3a-9d1e-6b1d2c3e4f50' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: TEMPLATE, ...spec },
});
