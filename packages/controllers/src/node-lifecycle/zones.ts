/** Slows down or stops evictions in zones with many nodes that are not ready (upstream's nodelifecycle, handleDisruption). Pure. */
import type { Node } from '@podwright/kube-api';
import { readyOf } from './node-health.ts';

/** Interval at which nodes of a zone get a taint of effect NoExecute, in milliseconds (node-eviction-rate: 0.1 a second). */
const EVICTION_INTERVAL_MS = 10_000;
/** Likewise in a large zone that is partly disrupted (secondary-node-eviction-rate: 0.01 a second). */
const SLOW_INTERVAL_MS = 100_000;
/** A zone is large if it has more nodes. In smaller zones that are partly disrupted, no pods are evicted (large-cluster-size-threshold). */
const LARGE_ZONE = 50;
/** A zone is partly disrupted if at least this share of its nodes is not ready (unhealthy-zone-threshold). */
const UNHEALTHY_SHARE = 0.55;
const EXCLUDED = 'node.kubernetes.io/exclude-disruption';

/** Returns the zone of a node, from its topology labels: `REGION:ZONE`. */
export const zoneOf = ({ metadata: { labels = {} } }: Node): string =>
  `${labels['topology.kubernetes.io/region'] ?? ''}:${labels['topology.kubernetes.io/zone'] ?? ''}`;

/** Whether no node is ready. Then the network of this machine is likely at fault, and no pod is evicted. */
export function areAllLost(nodes: readonly Node[]): boolean {
  const counted = nodes.filter(({ metadata }) => metadata.labels?.[EXCLUDED] === undefined);
  return counted.length > 0 && counted.every((node) => !isReady(node));
}

/** Returns the interval at which nodes of a zone may get a taint of effect NoExecute, in milliseconds; `undefined` if none may. */
export function taintIntervalMs(zone: readonly Node[]): number | undefined {
  const counted = zone.filter(({ metadata }) => metadata.labels?.[EXCLUDED] === undefined);
  const lost = counted.filter((node) => !isReady(node)).length;
  const isPartly = lost > 2 && lost < counted.length && lost / counted.length >= UNHEALTHY_SHARE;
  if (!isPartly) return EVICTION_INTERVAL_MS;
  return counted.length > LARGE_ZONE ? SLOW_INTERVAL_MS : undefined;
}

const isReady = (node: Node): boolean => readyOf(node)?.status === 'True';
