import { type AdmissionAttributes, groupResource, type ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { type AdmissionPlugin, rejected } from './admission-plugin.ts';
import { QuotaReservations, type Reservation } from './quota-reservations.ts';
import { decodeQuota, type Quota, QuotaUsage } from './quota-usage.ts';
import { quotaEvaluatorOf } from './resources/other-quotas.ts';
import type { QuotaEvaluator } from './resources/quota-evaluator.ts';
import { type Amount, type Amounts, formatAmount, sumOf } from './resources/resource-amounts.ts';

export type ResourceQuotaParts = { store: ObjectStore; now: () => number };

/** A write to an object whose resource counts against quotas. */
type Counted = { attributes: AdmissionAttributes; object: ApiObject; evaluator: QuotaEvaluator };

type Write = Pick<Reservation, 'object' | 'oldObject'>;

/**
 * Rejects writes that would exceed a quota in their namespace. Measures usage in the store, so it is never stale; a quota's status is only
 * informational. Must be the last plugin.
 */
export class ResourceQuotaAdmission implements AdmissionPlugin {
  readonly name = 'ResourceQuota';
  readonly #parts: ResourceQuotaParts;
  readonly #usage: QuotaUsage;
  readonly #reservations: QuotaReservations;

  constructor(parts: ResourceQuotaParts) {
    this.#parts = parts;
    this.#usage = new QuotaUsage(parts.store, parts.now);
    this.#reservations = new QuotaReservations(parts.store);
  }

  validate(attributes: AdmissionAttributes): void {
    const { resource, namespace, object, oldObject, operation, subresource, dryRun } = attributes;
    const kind = groupResource(resource);
    const evaluator = quotaEvaluatorOf(kind);
    if (namespace === '' || kind === 'namespaces' || evaluator === undefined || object === undefined) return;
    if (!evaluator.handles({ operation, subresource, object, ...(oldObject === undefined ? {} : { oldObject }) }))
      return;
    const quotas = this.#quotasFor(namespace, evaluator, object);
    if (quotas.length === 0) return;
    for (const quota of quotas) this.#check(quota, { attributes, object, evaluator });
    const key = { resource: kind, namespace, name: object.metadata.name ?? '' };
    if (!dryRun) this.#reservations.add({ key, object, oldObject });
  }

  /**
   * Returns the namespace's quotas that apply to the object: they limit a resource name the evaluator measures, and the object matches
   * their scopes.
   */
  #quotasFor(namespace: string, evaluator: QuotaEvaluator, object: ApiObject): Quota[] {
    const quotas = this.#parts.store
      .list('resourcequotas', { namespace })
      .objects.map((one) => decodeQuota(one.decode()));
    return quotas.filter(
      ({ hard, scopes }) =>
        [...hard.keys()].some(evaluator.measures) && scopes.every((scope) => evaluator.meets(scope, object)),
    );
  }

  #check(quota: Quota, counted: Counted): void {
    const { attributes, object, evaluator } = counted;
    const missing = evaluator.missing?.([...quota.hard.keys()].filter(evaluator.measures), object);
    if (missing !== undefined) throw rejected(attributes, `failed quota: ${quota.name}: ${missing}`);
    const added = this.#addedTo(quota, evaluator, { object, oldObject: attributes.oldObject });
    const requested = new Map([...added].filter(([name, { nanos }]) => nanos > 0n && quota.hard.has(name)));
    if (requested.size === 0) return;
    const used = this.#used(quota, counted);
    const exceeded = [...requested.keys()].filter((name) => {
      const total = (used.get(name)?.nanos ?? 0n) + requested.get(name)!.nanos;
      return total > quota.hard.get(name)!.nanos;
    });
    if (exceeded.length === 0) return;
    const shown = (amounts: Amounts) =>
      exceeded
        .sort()
        .map((name) => `${name}=${formatAmount(amounts.get(name) ?? ZERO)}`)
        .join(',');
    throw rejected(
      attributes,
      `exceeded quota: ${quota.name}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(quota.hard)}`,
    );
  }

  /** Returns how much of a quota is used by stored objects and by admitted writes that are not stored yet. */
  #used(quota: Quota, { attributes, object, evaluator }: Counted): Amounts {
    const resource = groupResource(attributes.resource);
    const key = { resource, namespace: attributes.namespace, name: object.metadata.name ?? '' };
    const pending = this.#reservations
      .of(key)
      .filter((one) => quota.scopes.every((scope) => evaluator.meets(scope, one.object)));
    const used = this.#usage.usedBy(resource, quota);
    return pending.reduce((sum, write) => sumOf(sum, this.#addedTo(quota, evaluator, write)), used);
  }

  /** Returns how much a write adds to the usage of a quota. If the quota also counts the old object, this is the difference. */
  #addedTo(quota: Quota, evaluator: QuotaEvaluator, { object, oldObject }: Write): Amounts {
    const nowMs = this.#parts.now();
    const usage = evaluator.usageOf(object, nowMs);
    if (oldObject === undefined || !quota.scopes.every((scope) => evaluator.meets(scope, oldObject))) return usage;
    const before = evaluator.usageOf(oldObject, nowMs);
    const difference = ([name, { nanos, like }]: [string, Amount]): [string, Amount] => {
      const more = nanos - (before.get(name)?.nanos ?? 0n);
      return [name, { nanos: more > 0n ? more : 0n, like }];
    };
    return new Map([...usage].map(difference));
  }
}

const ZERO: Amount = { nanos: 0n, like: '0' };
