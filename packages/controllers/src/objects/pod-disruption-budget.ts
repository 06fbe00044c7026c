import type { IntOrString, LabelSelector, ObjectMeta, Resource } from '@podwright/kube-api';

export const POD_DISRUPTION_BUDGETS: Resource = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};

/** A meta/v1 Condition. */
export type BudgetCondition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration?: number;
  lastTransitionTime: string;
};

export type BudgetStatus = {
  observedGeneration?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  expectedPods?: number;
  disruptionsAllowed?: number;
  /** Times of evictions whose pods are not being deleted yet, by pod name. */
  disruptedPods?: Record<string, string>;
  conditions?: BudgetCondition[];
};

/** A policy/v1 PodDisruptionBudget as the API server stores it. */
export type PodDisruptionBudget = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: { selector?: LabelSelector; minAvailable?: IntOrString; maxUnavailable?: IntOrString };
  status?: BudgetStatus;
};
