/** HorizontalPodAutoscalers (autoscaling/v2), limited to the fields used by controllers. The API server has already set the defaults. */
import type { ConditionStatus, KubeObject, LabelSelector, Resource } from '@podwright/kube-api';

export const HORIZONTAL_POD_AUTOSCALERS: Resource = {
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
};

/** metrics.k8s.io/v1beta1 PodMetrics, served by every version of the metrics server. */
export const POD_METRICS: Resource = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
};

/** Resource usage during the `window` before `timestamp`. `window` is a Go duration, such as `15s`. */
export type PodMetrics = KubeObject & {
  timestamp: string;
  window: string;
  /** Servers written in Go send an empty list or map as null. */
  containers: { name: string; usage: Record<string, string> | null }[] | null;
};

export type ScaleReference = { apiVersion?: string; kind: string; name: string };

/** Quantities are strings such as `500m`. Utilization is a percentage of the pods' requests. */
export type MetricTarget = { type: string; value?: string; averageValue?: string; averageUtilization?: number };
export type MetricValue = { value?: string; averageValue?: string; averageUtilization?: number };
export type MetricIdentifier = { name: string; selector?: LabelSelector };

export type MetricSpec = {
  type: string;
  resource?: { name: string; target: MetricTarget };
  containerResource?: { name: string; container: string; target: MetricTarget };
  pods?: { metric: MetricIdentifier; target: MetricTarget };
  object?: { metric: MetricIdentifier; target: MetricTarget; describedObject: ScaleReference };
  external?: { metric: MetricIdentifier; target: MetricTarget };
};

export type MetricStatus = {
  type: string;
  resource?: { name: string; current: MetricValue };
  containerResource?: { name: string; container: string; current: MetricValue };
};

export type ScalingPolicy = { type: 'Pods' | 'Percent'; value: number; periodSeconds: number };

export type ScalingRules = {
  /** Default: 300 seconds for scaling down, 0 for scaling up. */
  stabilizationWindowSeconds?: number;
  selectPolicy?: 'Max' | 'Min' | 'Disabled';
  policies?: ScalingPolicy[];
  /** A quantity: how far the ratio of usage to target may deviate from 1 before the number of replicas changes. */
  tolerance?: string;
};

export type ScalingBehavior = { scaleUp?: ScalingRules; scaleDown?: ScalingRules };

export type AutoscalerCondition = {
  type: string;
  status: ConditionStatus;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type AutoscalerStatus = {
  lastScaleTime?: string;
  currentReplicas?: number;
  desiredReplicas?: number;
  currentMetrics?: MetricStatus[] | null;
  conditions?: AutoscalerCondition[] | null;
};

export type HorizontalPodAutoscaler = KubeObject & {
  metadata: { name: string; namespace: string; uid: string };
  spec: {
    scaleTargetRef: ScaleReference;
    minReplicas?: number;
    maxReplicas: number;
    metrics?: MetricSpec[];
    behavior?: ScalingBehavior;
  };
  status?: AutoscalerStatus;
};
