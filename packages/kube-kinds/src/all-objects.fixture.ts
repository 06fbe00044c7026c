/** Tests that call the strategies of all kinds with arbitrary objects: the strategies must not throw, modify the object, or take long. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { decodeJson, type JsonObject, Schema } from '@podwright/kube-schema';
import type { ApiObject } from './api-object.ts';
import type { Strategies, Strategy } from './strategy.ts';

const schema = await Schema.load();
const USER = { username: 'u', groups: [] };

/** Calls all functions of a strategy, passing the object both as the new object and as the old one. */
export function callAll(strategy: Strategy, object: ApiObject): void {
  const before = JSON.stringify(object);
  const filled = strategy.applyDefaults?.(object) ?? object;
  const created = strategy.prepareForCreate?.(filled, { user: USER, nowMs: 0 }) ?? filled;
  strategy.validate?.(created);
  const updated = strategy.prepareForUpdate?.(filled, created) ?? filled;
  strategy.validateUpdate?.(updated, created);
  strategy.warnings?.(filled, undefined);
  strategy.warnings?.(updated, created);
  for (const { prepareForUpdate, validateUpdate } of Object.values(strategy.subresources ?? {}))
    validateUpdate?.(prepareForUpdate(filled, created), created);
  for (const select of Object.values(strategy.selectableFields ?? {})) assert.equal(typeof select(created), 'string');
  assert.equal(JSON.stringify(object), before);
}

/** Returns the kinds that have a strategy, with their v1 API version. Each kind must be in the schema. */
export const kindsOf = (strategies: Strategies): { key: string; apiVersion: string; kind: string }[] =>
  Object.keys(strategies).map((key) => {
    const [plural, ...group] = key.split('.');
    const name = group.join('.');
    const resource = schema.resources.find(
      (one) => one.plural === plural && one.group === name && one.version === 'v1',
    );
    assert.ok(resource, `no resource ${key}`);
    return { key, apiVersion: name === '' ? 'v1' : `${name}/v1`, kind: resource.kind };
  });

/** Decodes an object; `undefined` if its fields are invalid for the kind. */
export function decodedOrNot(object: JsonObject): ApiObject | undefined {
  try {
    const type = schema.kindOf(object as { apiVersion: string; kind: string })!;
    return { metadata: {}, ...decodeJson(object, { schema, type }).object };
  } catch {
    return undefined;
  }
}

/**
 * Returns Kubernetes' own test objects of a kind, with all fields set, from the directory in PODWRIGHT_KUBERNETES_DATA; an empty list if
 * that variable is not set.
 */
export function completeObjects(apiVersion: string, kind: string): JsonObject[] {
  const directory = process.env.PODWRIGHT_KUBERNETES_DATA;
  if (directory === undefined) return [];
  const prefix = apiVersion.includes('/') ? apiVersion.replace('/', '.') : `core.${apiVersion}`;
  const paths = globSync(join(directory, `objects/${prefix}.${kind}.json`));
  return paths.filter((path) => basename(path) !== '').map((path) => JSON.parse(readFileSync(path, 'utf8')));
}
