/** Evictions: pod deletions that respect PodDisruptionBudgets (POST to `pods/NAME/eviction`). */

import {
  type Admission,
  ApiError,
  badRequest,
  type DeleteOptions,
  forbidden,
  internalError,
  type ObjectStore,
  type Registries,
  type RequestContext,
  timestamp,
} from '@podwright/api-machinery';
import { isConditionTrue } from '@podwright/kube-api';
import {
  type ApiObject,
  matchesRequirements,
  numberAt,
  objectAt,
  selectorRequirements,
  textAt,
  withValue,
} from '@podwright/kube-kinds';
import { contextOf, encodingOf, placeOf } from '../server/resource-request.ts';
import type { ResourceRequest, SubresourceHandler } from '../server/server-parts.ts';
import { readObject } from '../server/write-requests.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { writeOptions } from '../wire/write-options.ts';
import { admittedObject } from './admitted-object.ts';
import { sendSuccess } from './send-success.ts';

export type EvictionParts = { registries: Registries; store: ObjectStore; admission: Admission };

const BUDGETS = 'poddisruptionbudgets.policy';
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";
const STILL_PROCESSED_SECONDS = 10;

export function evictionHandler(parts: EvictionParts): SubresourceHandler {
  return async (request) => {
    const { exchange, info, served } = request;
    encodingOf(request, negotiateObject(exchange));
    const options = writeOptions('CreateOptions', exchange.query);
    const sent = await readObject(request, options.fieldValidation);
    const given = contextOf(request, options);
    const eviction = await admittedObject(
      request,
      { admission: parts.admission, object: sent, name: info.name },
      given,
    );
    if (eviction.metadata.name !== info.name) throw badRequest('name in URL does not match name in Eviction object');
    const { dryRun, ...deletion } = deletionOf(eviction);
    const { subresource: _, ...context } = { ...given, isAdmitted: true, dryRun: options.dryRun || dryRun };
    const pod = served.get(placeOf(request)).decode();
    if (needsBudget(pod)) await useBudget(parts, { request, pod }, context);
    await served.delete(placeOf(request), deletion, context);
    await sendSuccess(request, 201);
  };
}

function deletionOf(eviction: ApiObject): DeleteOptions & { dryRun: boolean } {
  const { kind: _, apiVersion: __, dryRun = [], ...options } = objectAt(eviction, 'deleteOptions') ?? {};
  return { ...(options as DeleteOptions), dryRun: (dryRun as string[]).length > 0 };
}

/**
 * Whether evicting the pod counts as a disruption, which its budget must allow. If the pod is not running or is already being deleted, it
 * does not.
 */
function needsBudget(pod: ApiObject): boolean {
  const isIdle = ['Pending', 'Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));
  return !isIdle && pod.metadata.deletionTimestamp === undefined;
}

/** Consumes one of the disruptions allowed by the pod's budget. Throws `ApiError` if there are none left. */
async function useBudget(
  { registries, store }: EvictionParts,
  { request, pod }: { request: ResourceRequest; pod: ApiObject },
  context: RequestContext,
): Promise<void> {
  const [budget, ...others] = budgetsOf(store, pod);
  if (budget === undefined) return;
  if (others.length > 0)
    throw new ApiError(500, '', {
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  if (mayEvictUnready(budget, pod)) return;
  const resource = request.parts.schema.resource('policy', 'v1', 'poddisruptionbudgets');
  if (resource === undefined) throw internalError('no PodDisruptionBudgets');
  const { namespace = '', name = '' } = budget.metadata;
  const take = (object: ApiObject) => reduced(object, pod.metadata.name ?? '', context.nowMs);
  await registries.for(resource).change({ namespace, name }, take, { ...context, subresource: 'status' });
}

function budgetsOf(store: ObjectStore, pod: ApiObject): ApiObject[] {
  const { objects } = store.list(BUDGETS, { namespace: pod.metadata.namespace ?? '' });
  const selects = (budget: ApiObject) => {
    const selector = objectAt(budget, 'spec', 'selector');
    return selector !== undefined && matchesRequirements(selectorRequirements(selector), pod.metadata.labels ?? {});
  };
  return objects.map((object) => object.decode()).filter(selects);
}

/** Whether the budget allows evicting an unready pod without consuming one of its disruptions. */
function mayEvictUnready(budget: ApiObject, pod: ApiObject): boolean {
  const conditions = (objectAt(pod, 'status')?.conditions ?? []) as { type?: string; status?: string }[];
  if (isConditionTrue(conditions, 'Ready')) return false;
  if (textAt(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const { healthy, desired } = countsOf(budget);
  return healthy >= desired && desired > 0;
}

const countsOf = (budget: ApiObject) => ({
  healthy: numberAt(budget, 'status', 'currentHealthy') ?? 0,
  desired: numberAt(budget, 'status', 'desiredHealthy') ?? 0,
  allowed: numberAt(budget, 'status', 'disruptionsAllowed') ?? 0,
});

function reduced(budget: ApiObject, pod: string, nowMs: number): ApiObject {
  const { name = '', generation = 0 } = budget.metadata;
  const { healthy, desired, allowed } = countsOf(budget);
  if ((numberAt(budget, 'status', 'observedGeneration') ?? 0) < generation)
    throw violation(`The disruption budget ${name} is still being processed by the server.`, STILL_PROCESSED_SECONDS);
  if (allowed < 0)
    throw forbidden({ group: 'policy', plural: 'poddisruptionbudget' }, name, 'pdb disruptions allowed is negative');
  if (allowed === 0)
    throw violation(`The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`);
  const disrupted = { ...objectAt(budget, 'status', 'disruptedPods'), [pod]: timestamp(nowMs) };
  const counted = withValue(budget, ['status', 'disruptionsAllowed'], allowed - 1);
  return withValue(counted, ['status', 'disruptedPods'], disrupted);
}

function violation(message: string, retryAfterSeconds?: number): ApiError {
  const causes = [{ reason: 'DisruptionBudget', message }];
  const details = retryAfterSeconds === undefined ? { causes } : { causes, retryAfterSeconds };
  return new ApiError(429, 'TooManyRequests', { message: VIOLATION, details });
}
