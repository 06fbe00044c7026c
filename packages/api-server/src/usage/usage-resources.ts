/** The `metrics.k8s.io` API: CPU and memory usage of pods and nodes, as in metrics-server. */
import type { ObjectStore } from '@podwright/api-machinery';
import type { Logger } from '@podwright/base';
import { formatTime } from '@podwright/kube-api';
import { type ApiObject, objectsAt } from '@podwright/kube-kinds';
import { apiVersionOf, type Resource } from '@podwright/kube-schema';
import type { NodeConnector } from '../backends/node-connector.ts';
import type { AskedObjects, ComputedResource } from '../server/computed-resource.ts';
import type { NodeUse, PodUse, Use } from './node-summaries.ts';

/** Both versions have the same fields. Kubernetes 1.36 clients use v1beta1; 1.37 adds v1. */
const VERSIONS = ['v1', 'v1beta1'];
/** Value of the field `window`: the kubelet computes CPU usage from two measurements ten seconds apart. */
const WINDOW = '10s';

export type UsageParts = { store: ObjectStore; connector: NodeConnector; logger: Logger; now: () => number };

/** Returns the resources `nodes` and `pods` of `metrics.k8s.io`, in all its versions. */
export function usageResources(parts: UsageParts): ComputedResource[] {
  return VERSIONS.flatMap((version) => [
    { resource: resourceOf(version, 'nodes', 'NodeMetrics'), list: (asked) => nodeMetrics(parts, version, asked) },
    { resource: resourceOf(version, 'pods', 'PodMetrics'), list: (asked) => podMetrics(parts, version, asked) },
  ]);
}

const resourceOf = (version: string, plural: string, kind: string): Resource => ({
  ...{ group: 'metrics.k8s.io', version, plural, kind, singular: '', namespaced: kind === 'PodMetrics' },
  verbs: ['get', 'list'],
});

async function nodeMetrics(
  parts: UsageParts,
  version: string,
  { isAsked, signal }: AskedObjects,
): Promise<ApiObject[]> {
  const nodes = parts.store.list('nodes').objects.map((object) => object.decode());
  const asked = nodes.filter(({ metadata }) => isAsked(metadata));
  const uses = await usesOf(
    asked.map(({ metadata }) => metadata.name ?? ''),
    parts,
    signal,
  );
  return asked.flatMap((node) => {
    const use = uses.get(node.metadata.name ?? '')?.node;
    return use === undefined ? [] : [{ ...headOf(node, version, parts.now()), ...measured(use), usage: usageOf(use) }];
  });
}

async function podMetrics(
  parts: UsageParts,
  version: string,
  { namespace, isAsked, signal }: AskedObjects,
): Promise<ApiObject[]> {
  const { objects } = parts.store.list('pods', namespace === '' ? {} : { namespace });
  const pods = objects.map((object) => object.decode()).filter(({ metadata }) => isAsked(metadata));
  const nodes = new Set(pods.map(nodeOf).filter((name) => name !== ''));
  const uses = await usesOf([...nodes], parts, signal);
  const byPod = new Map([...uses].map(([node, { pods: of }]) => [node, new Map(of.map((one) => [keyOf(one), one]))]));
  return pods.flatMap((pod) => {
    const { namespace: own = '', name = '' } = pod.metadata;
    const use = byPod.get(nodeOf(pod))?.get(keyOf({ namespace: own, name })); // a node reports on its own pods only
    return use === undefined ? [] : [{ ...headOf(pod, version, parts.now()), ...measuredPod(use) }];
  });
}

const keyOf = ({ namespace, name }: Pick<PodUse, 'namespace' | 'name'>) => `${namespace}/${name}`;

const nodeOf = ({ spec }: ApiObject): string => (spec as { nodeName?: string } | undefined)?.nodeName ?? '';

/**
 * Returns the usage of the nodes that respond. Skips nodes without heartbeats, which would delay the response until they time out. The code
 * that reads the usage is loaded on the first request, to save memory.
 */
async function usesOf(all: readonly string[], parts: UsageParts, signal: AbortSignal): Promise<Map<string, NodeUse>> {
  const { readNodeUse } = await import('./node-summaries.ts');
  const names = all.filter((name) => !isLost(parts.store.get({ resource: 'nodes', namespace: '', name })?.decode()));
  const uses = await Promise.all(names.map((name) => readNodeUse(name, parts, signal)));
  return new Map(names.flatMap((name, index) => (uses[index] === undefined ? [] : [[name, uses[index]] as const])));
}

/** Whether the node's heartbeats have stopped according to the node lifecycle controller. */
const isLost = (node: ApiObject | undefined): boolean =>
  node !== undefined &&
  objectsAt(node, 'status', 'conditions').some(({ type, status }) => type === 'Ready' && status === 'Unknown');

function headOf({ metadata }: ApiObject, version: string, nowMs: number) {
  const { name, namespace, labels } = metadata;
  const kind = namespace === undefined ? 'NodeMetrics' : 'PodMetrics';
  const own = {
    name,
    ...(namespace && { namespace }),
    creationTimestamp: formatTime(nowMs),
    ...(labels && { labels }),
  };
  return { kind, apiVersion: apiVersionOf({ group: 'metrics.k8s.io', version }), metadata: own };
}

const measured = ({ atMs }: Pick<Use, 'atMs'>) => ({ timestamp: formatTime(atMs), window: WINDOW });

function measuredPod({ containers }: PodUse) {
  const atMs = containers.reduce((oldest, { use }) => Math.min(oldest, use.atMs), Number.POSITIVE_INFINITY);
  return { ...measured({ atMs }), containers: containers.map(({ name, use }) => ({ name, usage: usageOf(use) })) };
}

/** Formats CPU and memory usage as quantities, in the same notation as metrics-server. */
const usageOf = ({ cpuNanoCores, memoryBytes }: Use) => ({
  cpu: cpuNanoCores === 0 ? '0' : `${cpuNanoCores}n`,
  memory: memoryBytes < 1024 ? `${memoryBytes}` : `${Math.round(memoryBytes / 1024)}Ki`,
});
