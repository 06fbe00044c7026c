/** The match conditions of a webhook (apiserver, plugin/webhook/matchconditions). */
import {
  evaluateConditions,
  joinedProblems,
  OutOfBudget,
  type PolicyAuthorizer,
  requestVariables,
} from '@podwright/admission-policies';
import { type AdmissionAttributes, forbidden, type ObjectStore } from '@podwright/api-machinery';
import { EventLoopBudget } from '@podwright/base';
import type { Resource } from '@podwright/kube-schema';
import type { Webhook } from './webhook.ts';
import type { WebhookMetrics, WebhookType } from './webhook-metrics.ts';

type Conditions = { webhook: Webhook; resource: Resource; type: WebhookType; metrics: WebhookMetrics };

/**
 * Whether all match conditions of a webhook are true. If they cannot be evaluated, throws 403 under `failurePolicy: Fail` and returns false
 * under `Ignore`.
 */
export async function isConditionMet(
  { webhook, resource, type, metrics }: Conditions,
  attributes: AdmissionAttributes,
  parts: { store: ObjectStore; authorizer: PolicyAuthorizer },
): Promise<boolean> {
  const { name, conditions, ignoresFailures } = webhook;
  if (conditions.length === 0) return true;
  const startMs = performance.now();
  const result = await evaluated(webhook, () => requestVariables(attributes, { resource }, parts));
  const seconds = (performance.now() - startMs) / 1000;
  metrics.conditions({ name, type, operation: attributes.operation, seconds }, result);
  if (typeof result === 'boolean') return result;
  if (ignoresFailures) return false;
  throw forbidden(attributes.resource, attributes.name, joinedProblems(result));
}

async function evaluated({ conditions }: Webhook, variables: () => ReturnType<typeof requestVariables>) {
  try {
    return await evaluateConditions(conditions, variables(), new EventLoopBudget());
  } catch (error) {
    if (error instanceof OutOfBudget) return [error.message];
    throw error;
  }
}
