import assert from 'node:assert/strict';
import type { StoreOptions } from '@podwright/api-machinery';
import { type AdmissionAttributes, ApiError, MemoryStore, type ObjectStore } from '@podwright/api-machinery';
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import { admissionChain } from './admission-chain.ts';
import type { AdmissionPlugin } from './admission-plugin.ts';

export const ALICE: UserInfo = { username: 'alice', groups: ['system:authenticated'] };

export type Write = Partial<Omit<AdmissionAttributes, 'resource'>> & {
  /** The group resource, optionally with a subresource: `pods/status`, `leases.coordination.k8s.io`. */
  to: string;
};

/** Returns the attributes of a write. Operation, name and namespace default to those implied by the objects. */
export function attributesOf({ to, ...write }: Write): AdmissionAttributes & { warnings: string[] } {
  const [resource = '', subresource = ''] = to.split('/');
  const [plural = '', ...group] = resource.split('.');
  const { object, oldObject } = write;
  const { name = '', namespace = '' } = (object ?? oldObject)?.metadata ?? {};
  const warnings: string[] = [];
  return {
    operation: object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE',
    resource: {
      group: group.join('.'),
      version: 'v1',
      kind: '',
      plural,
      singular: '',
      namespaced: namespace !== '',
      verbs: [],
    },
    subresource,
    namespace: plural === 'namespaces' ? name : namespace,
    name,
    user: ALICE,
    dryRun: false,
    warn: (message) => warnings.push(message),
    warnings,
    ...write,
  };
}

/** Returns an object named `[NAMESPACE/]NAME`. */
export function object(
  path: string,
  fields: Record<string, unknown> = {},
  metadata: Record<string, unknown> = {},
): ApiObject {
  const [name = '', namespace] = path.split('/').reverse();
  return { metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...metadata }, ...fields };
}

/** Returns a store that contains the given objects, by group resource. */
export function storeOf(
  objects: Record<string, ApiObject | readonly ApiObject[]>,
  options: StoreOptions = {},
): ObjectStore {
  const store = new MemoryStore(options);
  for (const [resource, list] of Object.entries(objects)) for (const one of [list].flat()) put(store, resource, one);
  return store;
}

export function put(store: ObjectStore, resource: string, one: ApiObject): void {
  const { name = '', namespace = '' } = one.metadata;
  const key = { resource, namespace, name };
  const existing = store.get(key);
  if (existing === undefined) store.create(key, one);
  else store.update(key, one, existing.revision);
}

/** Runs a write through the plugin. Returns the object that would be stored, and the warnings for the client. */
export async function admit(plugin: AdmissionPlugin, write: Write): Promise<{ object: ApiObject; warnings: string[] }> {
  const attributes = attributesOf(write);
  const chain = admissionChain([plugin]);
  const mutated = await chain.mutate(attributes);
  await chain.validate({ ...attributes, ...(mutated === undefined ? {} : { object: mutated }) });
  return { object: mutated ?? { metadata: {} }, warnings: attributes.warnings };
}

/** Checks that a plugin rejects a write with this message, which is either complete or only the part after `NAME is forbidden: `. */
export async function rejects(plugin: AdmissionPlugin, write: Write, message: string): Promise<ApiError> {
  const error = await admit(plugin, write).then(
    () => assert.fail(`admitted, expected: ${message}`),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof ApiError, String(error));
  const [, cause = error.message] = / is forbidden: (.*)$/s.exec(error.message) ?? [];
  assert.ok(error.message === message || cause === message, `${error.message}\nexpected: ${message}`);
  return error;
}
