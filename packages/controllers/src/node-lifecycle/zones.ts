/** How many nodes of a zone are lost, by which evictions are slowed down or stopped (upstream's nodelifecycle, handleDisruption). Pure. */
import type { Node } from '@podwright/kube-api';
import { readyOf } from './node-health.ts';

/** Time between two nodes of a zone whose pods are evicted, in milliseconds (node-eviction-rate: 0.1 a second). */
const EVICTION_INTERVAL_MS = 10_000;
/** The same in a large zone that is partly disrupted (secondary-node-eviction-rate: 0.01 a second). */
const SLOW_INTERVAL_MS = 100_000;
/** Smaller zones that are partly disrupted have no evictions (large-cluster-size-threshold). */
const LARGE_ZONE = 50;
/** Share of nodes that are not ready from which a zone is partly disrupted (unhealthy-zone-threshold). */
const UNHEALTHY_SHARE = 0.55;
const EXCLUDED = 'node.kubernetes.io/exclude-disruption';

export const zoneOf = ({ metadata: { labels = {} } }: Node): string =>
  `${labels['topology.kubernetes.io/region'] ?? ''}:${labels['topology.kubernetes.io/zone'] ?? ''}`;

/** Whether no node at all is ready: then the network of this machine is likely at fault, and no pod is evicted. */
export function areAllLost(nodes: readonly Node[]): boolean {
  const counted = nodes.filter(({ metadata }) => metadata.labels?.[EXCLUDED] === undefined);
  return counted.length > 0 && counted.every((node) => !isReady(node));
}

/** Returns the time between two nodes of a zone that get a taint of effect NoExecute; `undefined` if none may. */
export function taintIntervalMs(zone: readonly Node[]): number | undefined {
  const counted = zone.filter(({ metadata }) => metadata.labels?.[EXCLUDED] === undefined);
  const lost = counted.filter((node) => !isReady(node)).length;
  const isPartly = lost > 2 && lost < counted.length && lost / counted.length >= UNHEALTHY_SHARE;
  if (!isPartly) return EVICTION_INTERVAL_MS;
  return counted.length > LARGE_ZONE ? SLOW_INTERVAL_MS : undefined;
}

const isReady = (node: Node): boolean => readyOf(node)?.status === 'True';
