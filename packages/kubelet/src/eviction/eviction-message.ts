/** Builds the message and the event annotations of an eviction, as in upstream (eviction/helpers.go). Pure. */
import { type Container, formatQuantity, hasPodLevelResources, type Pod, parseQuantity } from '@podwright/kube-api';
import {
  amountText,
  availableText,
  binaryText,
  type Observations,
  resourceOf,
  type StarvedResource,
  type Threshold,
} from '@podwright/kubelet-configuration';
import type { ContainerStats, PodStats } from '../stats/summary.ts';
import type { Candidate } from './rank-pods.ts';

export type EvictionMessage = { message: string; annotations: Record<string, string> };

/**
 * Builds an eviction's message and event annotations. `pressing`: all thresholds that have been met for longer than their grace period.
 * `resource`: the resource reclaimed by this eviction.
 */
export function evictionMessage(
  { pod, stats }: Candidate,
  resource: StarvedResource,
  { pressing, observations }: { pressing: readonly Threshold[]; observations: Observations },
): EvictionMessage {
  const low = `The node was low on resource: ${resource}. ${metText(resource, pressing, observations)}`;
  if (stats === undefined) return { message: low, annotations: {} };
  const whole = wholePod(pod, stats, resource);
  const isHider = stats.isPartial && (resource === 'ephemeral-storage' || resource === 'inodes');
  const hidden = isHider ? `Pod ${pod.metadata.name} has files that could not be counted. ` : '';
  const greedy = stats.containers.flatMap((one) => greedyContainer(pod, one, resource));
  return {
    message: low + hidden + (whole?.message ?? '') + greedy.map(({ message }) => message).join(''),
    annotations: {
      ...whole?.annotations,
      offending_containers: greedy.map(({ name }) => name).join(','),
      offending_containers_usage: greedy.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  };
}

function metText(resource: StarvedResource, pressing: readonly Threshold[], observations: Observations): string {
  for (const { signal, value } of pressing) {
    const observed = observations.get(signal);
    if (resourceOf(signal) !== resource || observed === undefined) continue;
    const quantity = amountText(value, observed.capacity);
    return `Threshold quantity: ${quantity}, available: ${availableText(signal, observed)}. `;
  }
  return '';
}

function wholePod(
  { metadata: { name }, spec }: Pod,
  { memory }: PodStats,
  resource: StarvedResource,
): EvictionMessage | undefined {
  const request = spec.resources?.requests?.memory;
  if (resource !== 'memory' || !hasPodLevelResources(spec) || request === undefined || memory === undefined)
    return undefined;
  const usage = binaryText(BigInt(memory.workingSetBytes ?? 0));
  return {
    message: `Pod ${name} was using ${usage}, request is ${canonical(request)}, has larger consumption of memory. `,
    annotations: { offending_pod: name, offending_pod_usage: usage },
  };
}

type Greedy = { name: string; usage: string; message: string };

/**
 * Returns the container's name, usage and message if its usage exceeds its request; otherwise an empty list. Ephemeral containers cannot
 * have requests, so they are never listed.
 */
function greedyContainer({ spec }: Pod, stats: ContainerStats, resource: StarvedResource): Greedy[] {
  const container = [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === stats.name);
  const used = usageOf(stats, resource);
  if (container === undefined || used === undefined) return [];
  const request = requestOf(container, resource);
  if (used * 1_000_000_000n <= parseQuantity(request).nanos) return [];
  const [name, usage] = [container.name, binaryText(used)];
  const message = `Container ${name} was using ${usage}, request is ${canonical(request)}, has larger consumption of ${resource}. `;
  return [{ name, usage, message }];
}

const requestOf = ({ resources }: Container, resource: string) => resources?.requests?.[resource] ?? '0';

function usageOf({ rootfs, logs, memory }: ContainerStats, resource: StarvedResource): bigint | undefined {
  if (resource === 'memory') return memory?.workingSetBytes === undefined ? undefined : BigInt(memory.workingSetBytes);
  if (resource !== 'ephemeral-storage' || rootfs?.usedBytes === undefined || logs?.usedBytes === undefined)
    return undefined;
  return BigInt(rootfs.usedBytes) + BigInt(logs.usedBytes);
}

const canonical = (text: string) => formatQuantity(parseQuantity(text).nanos, text);
