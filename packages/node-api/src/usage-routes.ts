import { formatTime, type Pod } from '@podwright/kube-api';
import type { ContainerUse, UsageReport } from '@podwright/kubelet';
import { type Call, type Route, sendJson } from '@podwright/kubelet-server';
import type { NodeBackend } from './node-backend.ts';
import { parseFieldSelector, parseLabelSelector, type SelectableFields } from './selectors.ts';

/** Served versions of the resource metrics API, which share one format; Kubernetes 1.37 adds v1. */
export const METRICS_VERSIONS = ['metrics.k8s.io/v1', 'metrics.k8s.io/v1beta1'];

type Named = { metadata: { name?: string; namespace?: string } };

/** The fields by which metrics can be selected, as in metrics-server. */
const FIELDS: SelectableFields<Named> = {
  'metadata.name': ({ metadata }) => metadata.name ?? '',
  'metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

/** Serves the resource usage of the node and its pods at the paths of Kubernetes' resource metrics API. */
export function usageRoutes(backend: NodeBackend): Route[] {
  return METRICS_VERSIONS.flatMap((apiVersion) => usageRoutesOf(backend, apiVersion));
}

function usageRoutesOf(backend: NodeBackend, apiVersion: string): Route[] {
  const base = `/apis/${apiVersion}`;
  const list = { apiVersion, metadata: {} };
  const pods = async ({ response, query, params, signal }: Call) => {
    const selects = parseLabelSelector(query.get('labelSelector') ?? '');
    const isNamed = parseFieldSelector(query.get('fieldSelector') ?? '', FIELDS);
    const report = await backend.usage(signal);
    const selected = (backend.list('Pod') as Pod[]).filter(
      (pod) =>
        (params.namespace === undefined || params.namespace === pod.metadata.namespace) &&
        selects(pod.metadata.labels) &&
        isNamed(pod),
    );
    sendJson(response, { ...list, kind: 'PodMetricsList', items: selected.flatMap((pod) => podMetrics(pod, report)) });
  };
  const nodes = async ({ response, query, signal }: Call) => {
    const isNamed = parseFieldSelector(query.get('fieldSelector') ?? '', FIELDS);
    const [node] = backend.list('Node');
    if (!isNamed(node!)) return sendJson(response, { ...list, kind: 'NodeMetricsList', items: [] });
    const window = { timestamp: formatTime(Date.now()), window: '0.5s' };
    const usage = quantities(await backend.hostUsage(signal));
    const item = { metadata: { name: node!.metadata.name, labels: node!.metadata.labels }, ...window, usage };
    sendJson(response, { ...list, kind: 'NodeMetricsList', items: [item] });
  };
  return [
    { method: 'GET', path: `${base}/pods`, handler: pods },
    { method: 'GET', path: `${base}/namespaces/:namespace/pods`, handler: pods },
    { method: 'GET', path: `${base}/nodes`, handler: nodes },
  ];
}

/** Returns a PodMetrics object, or nothing for a pod without running containers, so that lists omit it. */
function podMetrics({ metadata, status }: Pod, { containers, atMs, windowMs }: UsageReport): object[] {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const used = statuses.flatMap(({ name, containerID, state }) => {
    const use = state.running && containers.get(containerID?.replace(/^.*:\/\//, '') ?? '');
    return use ? [{ name, usage: quantities(use) }] : [];
  });
  if (used.length === 0) return [];
  const { name, namespace, labels } = metadata;
  const window = `${windowMs / 1000}s`;
  return [{ metadata: { name, namespace, labels }, timestamp: formatTime(atMs), window, containers: used }];
}

function quantities({ cpuNanoCores, memoryBytes }: ContainerUse): { cpu: string; memory: string } {
  return { cpu: `${cpuNanoCores}n`, memory: `${Math.round(memoryBytes / 1024)}Ki` };
}
