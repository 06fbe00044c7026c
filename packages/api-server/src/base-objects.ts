/** The objects every cluster has from the first start: namespaces, priority classes, flow schemas and the RBAC policy. */

import type { ObjectStore, Registries } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Schema } from '@podwright/kube-schema';
import { ensurePolicy } from './authorization/bootstrap/ensure-policy.ts';
import { joiningPolicy } from './authorization/bootstrap/joining-policy.ts';
import { usagePolicy } from './authorization/bootstrap/usage-policy.ts';
import { ensureFlows } from './controllers/keep-flows.ts';
import { StorePolicyWriter } from './policy-writer.ts';
import { systemContext } from './system-context.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Upstream's PriorityClasses for pods that a cluster cannot work without. */
const PRIORITY_CLASSES = [
  [
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ],
  [
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ],
] as const;

export type BaseObjectsParts = { schema: Schema; registries: Registries; store: ObjectStore; nowMs: number };

/** Creates missing objects, and adds missing rules to existing roles. */
export async function ensureBaseObjects({ schema, registries, store, nowMs }: BaseObjectsParts): Promise<void> {
  // bypasses admission: a webhook might run in a pod on this node, and that pod cannot start before this server
  const context = { ...systemContext(nowMs), isAdmitted: true };
  const namespaces = registries.for(schema.resource('', 'v1', 'namespaces')!);
  for (const name of NAMESPACES) {
    if (store.get({ resource: 'namespaces', namespace: '', name }) !== undefined) continue;
    const object: ApiObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} };
    await namespaces.create('', object, context);
  }
  const priorities = registries.for(schema.resource('scheduling.k8s.io', 'v1', 'priorityclasses')!);
  for (const [name, value, description] of PRIORITY_CLASSES) {
    if (store.get({ resource: 'priorityclasses.scheduling.k8s.io', namespace: '', name }) !== undefined) continue;
    const type = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' };
    await priorities.create('', { ...type, metadata: { name }, value, description }, context);
  }
  const flowRegistry = (name: string) => {
    const [plural = '', ...group] = name.split('.');
    return registries.for(schema.resource(group.join('.'), 'v1', plural)!);
  };
  await ensureFlows({ store, registryOf: flowRegistry, now: () => nowMs, isAdmitted: true });
  const writer = new StorePolicyWriter(store, nowMs);
  ensurePolicy(writer);
  ensurePolicy(writer, joiningPolicy());
  ensurePolicy(writer, usagePolicy());
  writer.commit();
}
