import type { Event, Finding, Pod } from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';

/**
 * The HTTP API of a lone node, on a unix socket that only root may open. Paths and objects are the Kubernetes
 * API's where it has them, so that Kubernetes' clients can use this API; the rest is below `/podwright/v1`.
 *
 * | method, path | answer |
 * | --- | --- |
 * | the kubelet's own API (`/pods`, `/metrics`, `/stats/summary`, `/exec/…`, `/healthz`) | upstream's formats, see `kubelet-api` |
 * | GET /version, /api, /api/v1, /apis, /apis/GROUP/VERSION | the discovery API |
 * | GET /api/v1/PLURAL, /api/v1/namespaces/NS/PLURAL ?labelSelector= &fieldSelector= &watch= &sendInitialEvents= | of pods, configmaps, secrets, events: a list; or with watch a line of `WatchEvent` JSON for each existing object and each change |
 * | GET /api/v1/nodes, /apis/node.k8s.io/v1/runtimeclasses | likewise, without namespaces |
 * | GET …/NAME | one object |
 * | the same, with `Accept: application/json;as=Table;v=v1;g=meta.k8s.io` | kubectl's tables; `&includeObject=None`, `Metadata` or `Object` in each row |
 * | DELETE …/NAME [?gracePeriodSeconds=N] | for applied pods, configmaps, secrets and runtimeclasses; the response does not wait for the end of a pod |
 * | PATCH …/NAME | body: a merge, strategic merge or JSON patch of `metadata.labels` and `metadata.annotations`; returns the object; only for applied objects |
 * | GET, PUT, PATCH …/pods/NAME/ephemeralcontainers | body: a pod, or a merge patch or JSON patch of `spec.ephemeralContainers`; the pod |
 * | GET, PUT, PATCH …/pods/NAME/resize | body: a pod, or a merge patch or JSON patch of the resources of `spec.containers` and `spec.initContainers`; the pod; only for applied pods |
 * | GET, PATCH …/pods/NAME/status | the pod; body of PATCH: a merge, strategic merge or JSON patch of `status.conditions`, of which clients may set the ones that the kubelet does not set itself, such as readiness gates |
 * | GET /apis/metrics.k8s.io/v1/pods, …/namespaces/NS/pods, …/nodes | PodMetricsList, NodeMetricsList |
 * | GET …/pods/NAME/log ?container= &containerID= &follow= &previous= &tailLines= &sinceSeconds= &sinceTime= &timestamps= &limitBytes= &stream= | text |
 * | POST …/pods/NAME/exec ?container= &command=… &stdin= &stdout= &stderr= &tty= | upgrade to SPDY/3.1, proxied to the runtime |
 * | POST …/pods/NAME/attach, …/portforward | likewise |
 * | POST /podwright/v1/apply [?dryRun=All] [?replace=false] | body: a manifest; `ApplyResult`: the actions taken, or planned with dryRun; with replace=false nothing is written if an object would be replaced |
 * | POST /podwright/v1/namespaces/NS/pods/NAME/restart [?container=] | `RestartAnswer`; the response does not wait for the restart |
 * | GET /podwright/v1/node | `NodeInfo` |
 * | GET /podwright/v1/transfers | lines of `ImageTransfer` |
 * | GET /podwright/v1/traces/UID | `TraceSpan[]` |
 * | POST /podwright/v1/stop [?endPods=true] [?gracePeriodSeconds=5] [?endApiPods=true] [?removeHostState=true] [?restart=true] | the daemon exits; containers keep running unless endPods or endApiPods is set; with restart=true it executes its program again |
 *
 * Errors are a Kubernetes `Status` object with `message`, `reason` and `code`.
 */
export type WatchEvent<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type PodWatchEvent = WatchEvent<Pod>;
export type EventWatchEvent = WatchEvent<Event>;

/** Progress of the transfer of an image. Sizes are in bytes of the compressed blobs known so far. */
export type ImageTransfer = {
  reference: string;
  phase: string;
  doneBytes: number;
  /** 0 while unknown, like `layersTotal`. */
  totalBytes: number;
  layersDone: number;
  layersTotal: number;
  /** The reason, in the phase `failed`. */
  error: string;
};

export type ApplyOptions = {
  /** Report the actions without writing; false by default. */
  dryRun?: boolean;
  /** Whether existing objects with other content may be replaced; true by default. If not, nothing is written. */
  replace?: boolean;
};

/** The action of an apply on each object of the manifest. */
export type ApplyResult = {
  objects: {
    kind: string;
    namespace: string;
    name: string;
    uid?: string;
    action: 'created' | 'replaced' | 'resized' | 'unchanged';
  }[];
  /** Problems which the pods will have on this host, and fields that this node ignores; with `dryRun=All` also problems of their images. */
  findings: Finding[];
  /** Ignored parts of the manifest, with their positions. */
  warnings: string[];
};

/** How the daemon stops. */
export type StopOptions = {
  /** Also remove the state of an empty node from the host. */
  removeHostState: boolean;
  /** First terminate the pods of manifests gracefully; the next start of the daemon creates them again. */
  endPods: boolean;
  /** Grace period of the pods; by default each pod's own. A second stop request can shorten it. */
  gracePeriodSeconds?: number;
  /** Also terminate the pods of an API server; the next start creates them again unless they have been deleted there. */
  endApiPods?: boolean;
  /** Then execute the program again in the same process; the program may be of another version now. */
  restart?: boolean;
};

/** The version of the paths below `/podwright/v1`. It is increased by changes that an earlier client or node would misunderstand. */
export const LOCAL_API_VERSION = 1;

/** The containers that are being restarted. */
export type RestartAnswer = { containers: string[] };

/** The node that serves the socket. */
export type NodeInfo = {
  name: string;
  version: string;
  /** The commit and the digest of the sources. Nodes of earlier versions omit them, like `localApiVersion`. */
  commit?: string;
  build?: string;
  localApiVersion?: number;
  pid: number;
  /** RFC 3339. Nodes of earlier versions omit this and the directories. */
  startedAt?: string;
  rootDir?: string;
  stateDir?: string;
  runtime: { name: string; version: string; apiVersion: string; endpoint: string };
  manifestDir: string;
  podLogsDir: string;
  podDefaults?: PodDefaults;
  /**
   * The node's pressure conditions, and the eviction thresholds that are currently met, as text. Meanwhile the node refuses and evicts
   * pods.
   */
  pressure?: { conditions: readonly string[]; reasons: readonly string[] };
  /** Why pods cannot have a network, or a note on it. */
  network?: string;
  /** Errors in the files of the manifest directory, each with its position; the first hundred. */
  manifestErrors?: string[];
};
