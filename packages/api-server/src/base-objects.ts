/** The objects that each cluster has from its first start on: namespaces and the RBAC policy. */
import type { ApiObject } from '@podwright/kube-kinds';
import type { Schema } from '@podwright/kube-schema';
import { ensurePolicy } from './authorization/bootstrap/ensure-policy.ts';
import { StorePolicyWriter } from './policy-writer.ts';
import type { Registries } from './registry/registries.ts';
import type { ObjectStore } from './store/object-store.ts';
import { systemContext } from './system-context.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export type BaseObjectsParts = { schema: Schema; registries: Registries; store: ObjectStore; nowMs: number };

/** Creates missing objects, and adds missing rules to existing roles. */
export async function ensureBaseObjects({ schema, registries, store, nowMs }: BaseObjectsParts): Promise<void> {
  const namespaces = registries.for(schema.resource('', 'v1', 'namespaces')!);
  for (const name of NAMESPACES) {
    if (store.get({ resource: 'namespaces', namespace: '', name }) !== undefined) continue;
    const object: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} };
    await namespaces.create('', object, systemContext(nowMs));
  }
  const writer = new StorePolicyWriter(store, nowMs);
  ensurePolicy(writer);
  writer.commit();
}
