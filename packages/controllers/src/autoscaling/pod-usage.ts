/**
 * The resource usage and requests of pods (upstream's podautoscaler/metrics, and its replica calculator's groupPods and calculateRequests).
 */
import {
  amountOf,
  isSidecar,
  overheadOf,
  type Pod,
  type PodSpec,
  parseGoDuration,
  parseQuantity,
  quantityMilliValue,
} from '@podwright/kube-api';
import type { PodMetrics } from '../objects/horizontal-pod-autoscaler.ts';
import { readyCondition } from '../pods/pod-state.ts';

/** How long after a pod's start its CPU usage counts only while the pod is ready, in milliseconds (cpu-initialization-period). */
const CPU_INITIALIZATION_MS = 300_000;
/** A pod that became unready this soon after its start is assumed never to have been ready, in milliseconds (initial-readiness-delay). */
const INITIAL_READINESS_MS = 30_000;

/** The usage of one resource by a pod. `value` is in milli-units of the resource. */
export type PodUsage = { timestampMs: number; windowMs: number; value: number };

/** The usage of each pod, by pod name. */
export type PodUsages = ReadonlyMap<string, PodUsage>;

/**
 * Returns the usage of each pod or, if `container` is set, of that container. Omits pods for which the usage of a counted container is
 * unknown.
 */
export function usagesOf(metrics: readonly PodMetrics[], resource: string, container?: string): PodUsages {
  const usages = new Map<string, PodUsage>();
  for (const { metadata, timestamp, window, containers } of metrics) {
    const counted = (containers ?? []).filter(({ name }) => container === undefined || name === container);
    const values = counted.map(({ usage }) => usage?.[resource]);
    if (values.length === 0 || values.includes(undefined)) continue;
    const value = values.reduce((sum, text) => sum + Number(quantityMilliValue(text!)), 0);
    const windowMs = parseGoDuration(window) ?? 0;
    usages.set(metadata.name!, { timestampMs: Date.parse(timestamp), windowMs, value });
  }
  return usages;
}

/** Names of pods, grouped by how the calculation treats them. Pods in none of the lists are ready. */
export type PodGroups = { readyCount: number; unready: string[]; missing: string[]; ignored: string[] };

/** Groups an autoscaler's pods by how its calculation treats them. The Ready condition matters for CPU only. */
export function groupPods(pods: readonly Pod[], usages: PodUsages, { isCpu = false, nowMs = 0 }): PodGroups {
  const groups: PodGroups = { readyCount: 0, unready: [], missing: [], ignored: [] };
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const usage = usages.get(name);
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Failed') groups.ignored.push(name);
    else if (pod.status?.phase === 'Pending') groups.unready.push(name);
    else if (usage === undefined) groups.missing.push(name);
    else if (isCpu && isUnready(pod, usage, nowMs)) groups.unready.push(name);
    else groups.readyCount++;
  }
  return groups;
}

function isUnready(pod: Pod, { timestampMs, windowMs }: PodUsage, nowMs: number): boolean {
  const condition = readyCondition(pod);
  if (condition === undefined || pod.status?.startTime === undefined) return true;
  const startMs = Date.parse(pod.status.startTime);
  const transitionMs = Date.parse(condition.lastTransitionTime ?? '') || 0;
  const isFalse = condition.status === 'False';
  if (startMs + CPU_INITIALIZATION_MS > nowMs) return isFalse || timestampMs < transitionMs + windowMs;
  return isFalse && startMs + INITIAL_READINESS_MS > transitionMs;
}

/**
 * Returns the requests by pod name, in milli-units of the resource: those of `container` if it is set, otherwise the pod-level requests if
 * there are any, otherwise the sum over all containers and sidecars. Throws if any of these has no request.
 */
export function requestsOf(pods: readonly Pod[], resource: string, container?: string): Map<string, number> {
  return new Map(pods.map((pod) => [pod.metadata.name, requestOf(pod, resource, container)]));
}

function requestOf(pod: Pod, resource: string, container?: string): number {
  const { name } = pod.metadata;
  if (container === undefined && Object.keys(pod.spec.resources?.requests ?? {}).length > 0) {
    const nanos = amountOf(pod, 'requests', resource) + overheadOf(pod, resource);
    if (nanos === 0n) throw new Error(`missing pod-level request for ${resource} in Pod ${name}`);
    return Number(nanos / 1_000_000n);
  }
  const counted = countedContainers(pod.spec).filter((one) => container === undefined || one.name === container);
  if (counted.length === 0 && container !== undefined)
    throw new Error(`container ${container} not found in Pod ${name}`);
  return counted.reduce((sum, one) => {
    const request = one.resources?.requests?.[resource];
    if (request === undefined)
      throw new Error(`missing request for ${resource} in container ${one.name} of Pod ${name}`);
    return sum + Number(parseQuantity(request).nanos / 1_000_000n);
  }, 0);
}

const countedContainers = ({ containers, initContainers = [] }: PodSpec) => [
  ...containers,
  ...initContainers.filter(isSidecar),
];
