import type { ObjectStore, StoredObject } from '@podwright/api-machinery';
import { type ApiObject, objectAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import { quotaEvaluatorOf } from './resources/other-quotas.ts';
import type { QuotaEvaluator, QuotaScope } from './resources/quota-evaluator.ts';
import { type Amounts, amountsOf, sumOf } from './resources/resource-amounts.ts';

/** A decoded ResourceQuota. */
export type Quota = { name: string; namespace: string; hard: Amounts; scopes: readonly QuotaScope[] };

export function decodeQuota({ metadata, spec }: ApiObject): Quota {
  const scopes = textsAt(spec, 'scopes').map((name) => ({ name, operator: 'Exists', values: [] }));
  const selected = objectsAt(spec, 'scopeSelector', 'matchExpressions').map((one) => ({
    name: textAt(one, 'scopeName'),
    operator: textAt(one, 'operator'),
    values: textsAt(one, 'values'),
  }));
  const { name = '', namespace = '' } = metadata;
  return { name, namespace, hard: amountsOf(objectAt(spec, 'hard')), scopes: [...scopes, ...selected] };
}

/** Resources with their own names in quotas. All others are counted by `count/RESOURCE`. */
const WITH_OWN_NAMES = [
  'pods',
  'services',
  'persistentvolumeclaims',
  'configmaps',
  'resourcequotas',
  'replicationcontrollers',
  'secrets',
];

/** Returns the group resource that a quota's resource name refers to, or `undefined` if the name is unknown. */
export function measuredResource(name: string): string | undefined {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  return WITH_OWN_NAMES.find((resource) => quotaEvaluatorOf(resource)?.measures(name));
}

/** Measures the resource usage of stored objects. */
export class QuotaUsage {
  readonly #store: ObjectStore;
  readonly #now: () => number;
  /** Cached usage by stored object, so that each version of an object is evaluated only once. Terminating pods are not cached. */
  readonly #known = new WeakMap<StoredObject, Amounts>();

  constructor(store: ObjectStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Returns the total usage of the resource's objects that match the quota's scopes, restricted to the resource names the quota limits. */
  usedBy(resource: string, { namespace, scopes, hard }: Quota): Amounts {
    const evaluator = quotaEvaluatorOf(resource);
    if (evaluator === undefined) return new Map();
    const { objects } = this.#store.list(resource, { namespace });
    const counted = objects.filter((object) => scopes.every((scope) => evaluator.meets(scope, object.decode())));
    const total = counted.reduce<Amounts>((sum, object) => sumOf(sum, this.#usageOf(object, evaluator)), new Map());
    return new Map([...total].filter(([name]) => hard.has(name)));
  }

  #usageOf(object: StoredObject, evaluator: QuotaEvaluator): Amounts {
    const known = this.#known.get(object);
    if (known !== undefined) return known;
    const decoded = object.decode();
    const usage = evaluator.usageOf(decoded, this.#now());
    // the usage of terminating pods is not cached, because it depends on the current time
    if (decoded.metadata.deletionTimestamp === undefined) this.#known.set(object, usage);
    return usage;
  }
}
