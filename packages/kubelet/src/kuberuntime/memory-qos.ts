import { type Container, type Pod, qosClass } from '@podwright/kube-api';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';

/** Page size of the kernel's memory accounting. */
const PAGE_BYTES = 4096;

/**
 * Returns the cgroup v2 settings, by file name, that protect a container's memory and throttle it below its limit (KEP-2570); none if the
 * feature gate is off.
 */
export function memoryQosFiles(pod: Pod, container: Container, node: ContainerEnforcement): Record<string, string> {
  const { policy, host } = node;
  if (policy.memoryQos === undefined || !host.cgroupV2) return {};
  return { ...reservation(pod, container, policy.memoryQos.reservation), ...throttle(container, node) };
}

/**
 * Returns the cgroup files for a container's memory protection: hard (memory.min) in a Guaranteed pod, soft (memory.low) in a Burstable
 * one.
 */
function reservation(pod: Pod, container: Container, policy: 'None' | 'TieredReservation'): Record<string, string> {
  const request = requestOf(container, 'memory');
  if (request === 0n || policy === 'None') return { 'memory.min': '0', 'memory.low': '0' };
  return { [qosClass(pod) === 'Guaranteed' ? 'memory.min' : 'memory.low']: String(request) };
}

/**
 * Returns the throttling threshold (memory.high), which lies between the request and the limit. If there is no limit, the node's
 * allocatable memory is used instead.
 */
function throttle(container: Container, { policy, host }: ContainerEnforcement): Record<string, string> {
  const request = requestOf(container, 'memory');
  const limit = limitOf(container, 'memory');
  const most = Number(limit === 0n ? host.allocatableMemory : limit);
  if (request === limit || most === 0) return {};
  const bytes = Number(request) + (most - Number(request)) * policy.memoryQos!.throttlingFactor;
  const high = BigInt(Math.floor(bytes / PAGE_BYTES) * PAGE_BYTES);
  return high > request ? { 'memory.high': String(high) } : {};
}
