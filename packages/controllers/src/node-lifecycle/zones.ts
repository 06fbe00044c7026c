/** Slows down or stops evictions in zones with many unready nodes (upstream's nodelifecycle, handleDisruption). Pure. */
import type { Node } from '@podwright/kube-api';
import { readyOf } from './node-health.ts';

/** Minimum time between NoExecute taints on different nodes of a zone, in milliseconds (node-eviction-rate: 0.1 per second). */
const EVICTION_INTERVAL_MS = 10_000;
/**
 * Minimum time between NoExecute taints on different nodes of a large zone that is partially disrupted, in milliseconds
 * (secondary-node-eviction-rate: 0.01 per second).
 */
const SLOW_INTERVAL_MS = 100_000;
/**
 * Zones with more nodes than this are large. In smaller zones, partial disruption stops evictions altogether
 * (large-cluster-size-threshold).
 */
const LARGE_ZONE = 50;
/** A zone is partially disrupted if at least this share of its nodes is not ready (unhealthy-zone-threshold). */
const UNHEALTHY_SHARE = 0.55;
const EXCLUDED = 'node.kubernetes.io/exclude-disruption';

/** Returns a node's zone from its topology labels, as `REGION:ZONE`. */
export const zoneOf = ({ metadata: { labels = {} } }: Node): string =>
  `${labels['topology.kubernetes.io/region'] ?? ''}:${labels['topology.kubernetes.io/zone'] ?? ''}`;

/** Whether no node is ready. In that case, the network of this machine is likely at fault, and no pods are evicted. */
export function areAllLost(nodes: readonly Node[]): boolean {
  const counted = nodes.filter(({ metadata }) => metadata.labels?.[EXCLUDED] === undefined);
  return counted.length > 0 && counted.every((node) => !isReady(node));
}

/** Returns the minimum time between NoExecute taints on different nodes of a zone, in milliseconds; `undefined` if no node may get one. */
export function taintIntervalMs(zone: readonly Node[]): number | undefined {
  const counted = zone.filter(({ metadata }) => metadata.labels?.[EXCLUDED] === undefined);
  const lost = counted.filter((node) => !isReady(node)).length;
  const isPartly = lost > 2 && lost < counted.length && lost / counted.length >= UNHEALTHY_SHARE;
  if (!isPartly) return EVICTION_INTERVAL_MS;
  return counted.length > LARGE_ZONE ? SLOW_INTERVAL_MS : undefined;
}

const isReady = (node: Node): boolean => readyOf(node)?.status === 'True';
