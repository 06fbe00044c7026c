import { formatTime, type Pod } from '@podwright/kube-api';
import type { ContainerUse, UsageReport } from '@podwright/kubelet';
import { type Call, type Route, sendJson } from '@podwright/kubelet-server';
import type { NodeBackend } from './node-backend.ts';
import { parseLabelSelector } from './selectors.ts';

/** Served versions of the resource metrics API, which share one format; Kubernetes 1.37 adds v1. */
export const METRICS_VERSIONS = ['metrics.k8s.io/v1', 'metrics.k8s.io/v1beta1'];

/** Serves the resource usage of the node and its pods at the paths of the Kubernetes resource metrics API. */
export function usageRoutes(backend: NodeBackend): Route[] {
  return METRICS_VERSIONS.flatMap((apiVersion) => usageRoutesOf(backend, apiVersion));
}

function usageRoutesOf(backend: NodeBackend, apiVersion: string): Route[] {
  const base = `/apis/${apiVersion}`;
  const list = { apiVersion, metadata: {} };
  const pods = async ({ response, query, params, signal }: Call) => {
    const selects = parseLabelSelector(query.get('labelSelector') ?? '');
    const report = await backend.usage(signal);
    const selected = (backend.list('Pod') as Pod[]).filter(
      ({ metadata }) =>
        (params.namespace === undefined || params.namespace === metadata.namespace) && selects(metadata.labels),
    );
    sendJson(response, { ...list, kind: 'PodMetricsList', items: selected.flatMap((pod) => podMetrics(pod, report)) });
  };
  const nodes = async ({ response, signal }: Call) => {
    const [node] = backend.list('Node');
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

/** Returns a PodMetrics object, or nothing for a pod without running containers, which is omitted from lists. */
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
