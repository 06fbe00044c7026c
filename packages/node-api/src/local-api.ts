import type { Event, Finding, Pod } from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';

/**
 * The HTTP API of a lone node, on a unix socket that only root may open. Paths and objects are the Kubernetes
 * API's where it has them, so that its clients can be pointed at it; the rest is below `/podwright/v1`.
 *
 * | method, path | answer |
 * | --- | --- |
 * | what the kubelet serves (`/pods`, `/metrics`, `/stats/summary`, `/exec/…`, `/healthz`) | upstream's shapes, see `kubelet-api` |
 * | GET /version, /api, /api/v1, /apis, /apis/GROUP/VERSION | what there is, for Kubernetes' clients |
 * | GET /api/v1/PLURAL, /api/v1/namespaces/NS/PLURAL ?labelSelector= &fieldSelector= &watch= &sendInitialEvents= | of pods, configmaps, secrets, events: a list, or a line of `WatchEvent` JSON a change, beginning with what is there |
 * | GET /api/v1/nodes, /apis/node.k8s.io/v1/runtimeclasses | likewise, without namespaces |
 * | GET …/NAME | one object |
 * | the same, with `Accept: application/json;as=Table;v=v1;g=meta.k8s.io` | kubectl's tables; `&includeObject=None`, `Metadata` or `Object` in each row |
 * | DELETE …/NAME [?gracePeriodSeconds=N] | a pod's answers at once; of pods, configmaps, secrets and runtimeclasses that were applied |
 * | PATCH …/NAME | body: a merge patch or JSON patch of `metadata.labels` and `metadata.annotations`; the object; of those that were applied |
 * | GET, PUT, PATCH …/pods/NAME/ephemeralcontainers | body: a pod, or a merge patch or JSON patch of `spec.ephemeralContainers`; the pod |
 * | GET, PUT, PATCH …/pods/NAME/resize | body: a pod, or a merge patch or JSON patch of the resources of `spec.containers` and `spec.initContainers`; the pod, of those that were applied |
 * | GET, PATCH …/pods/NAME/status | the pod; body: a merge or strategic merge patch of `status.conditions` that are not the kubelet's own, as those of readiness gates |
 * | GET /apis/metrics.k8s.io/v1/pods, …/namespaces/NS/pods, …/nodes | PodMetricsList, NodeMetricsList |
 * | GET …/pods/NAME/log ?container= &containerID= &follow= &previous= &tailLines= &sinceSeconds= &sinceTime= &timestamps= &limitBytes= &stream= | text |
 * | POST …/pods/NAME/exec ?container= &command=… &stdin= &stdout= &stderr= &tty= | upgrade to SPDY/3.1, proxied to the runtime |
 * | POST …/pods/NAME/attach, …/portforward | likewise |
 * | POST /podwright/v1/apply [?dryRun=All] [?replace=false] | body: a manifest; `ApplyResult`: what was done, or would be; without `replace` nothing is done if an object would be replaced |
 * | POST /podwright/v1/namespaces/NS/pods/NAME/restart [?container=] | `RestartAnswer`; its containers are not waited for |
 * | GET /podwright/v1/node | `NodeInfo` |
 * | GET /podwright/v1/transfers | lines of `ImageTransfer` |
 * | GET /podwright/v1/traces/UID | `TraceSpan[]` |
 * | POST /podwright/v1/stop [?endPods=true] [?gracePeriodSeconds=5] [?endApiPods=true] [?removeHostState=true] | the daemon ends; containers go on, unless their pods are to end first |
 *
 * Errors are a Kubernetes `Status` object with `message`, `reason` and `code`.
 */
export type WatchEvent<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type PodWatchEvent = WatchEvent<Pod>;
export type EventWatchEvent = WatchEvent<Event>;

/** How far the transfer of an image is. Sizes are bytes of packed blobs, of what is known yet. */
export type ImageTransfer = {
  reference: string;
  phase: string;
  doneBytes: number;
  /** 0 while unknown, as are the layers. */
  totalBytes: number;
  layersDone: number;
  layersTotal: number;
  /** Why it failed, in the phase `failed`. */
  error: string;
};

export type ApplyOptions = {
  /** Only tells what would be done. */
  dryRun?: boolean;
  /** Whether objects may be replaced that stand with other content; true if it is not said. */
  replace?: boolean;
};

/** What an apply did with each object of the manifest. */
export type ApplyResult = {
  objects: {
    kind: string;
    namespace: string;
    name: string;
    uid?: string;
    action: 'created' | 'replaced' | 'resized' | 'unchanged';
  }[];
  /** What the pods meet, and fields that this node ignores; with `dryRun=All` also of their images. */
  findings: Finding[];
  /** What of the manifest was left out, with its place. */
  warnings: string[];
};

/** How a daemon is to end. */
export type StopOptions = {
  /** Take down what an empty node leaves on the host, too. */
  removeHostState: boolean;
  /** End the pods of manifests first, gracefully; the next start begins them again. */
  endPods: boolean;
  /** Time for the pods to end; without it each pod's own. Asked again while the pods end, a shorter one wins. */
  gracePeriodSeconds?: number;
  /** And those of an API server: they come back, too, unless they are deleted there. */
  endApiPods?: boolean;
};

/** The containers that are being restarted. */
export type RestartAnswer = { containers: string[] };

/** The node that serves the socket. */
export type NodeInfo = {
  name: string;
  version: string;
  pid: number;
  /** RFC 3339; a node of an earlier version does not tell this and its directories. */
  startedAt?: string;
  rootDir?: string;
  stateDir?: string;
  runtime: { name: string; version: string; apiVersion: string; endpoint: string };
  manifestDir: string;
  podLogsDir: string;
  podDefaults?: PodDefaults;
  /** What the node is short of, so that pods are refused and evicted: conditions, and thresholds in words while they are met. */
  pressure?: { conditions: readonly string[]; reasons: readonly string[] };
  /** Why pods can have no network, or what is to be known of it. */
  network?: string;
  /** What is wrong with the files of the manifest directory, each with its place; the first hundred. */
  manifestErrors?: string[];
};
