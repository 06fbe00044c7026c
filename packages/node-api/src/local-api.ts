import type { Event, Finding, Pod } from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';

/**
 * The HTTP API of a standalone node, served on a Unix socket that only root may open. Paths and objects are those of the Kubernetes API
 * where it has an equivalent, so Kubernetes clients can use this API; everything else is under `/podwright/v1`.
 *
 * | method, path | response |
 * | --- | --- |
 * | the kubelet's own API (`/pods`, `/metrics`, `/stats/summary`, `/exec/…`, `/healthz`) | same formats as upstream; see `kubelet-api` |
 * | GET /version, /api, /api/v1, /apis, /apis/GROUP/VERSION | the discovery API |
 * | GET /api/v1/PLURAL, /api/v1/namespaces/NS/PLURAL ?labelSelector= &fieldSelector= &watch= &sendInitialEvents= | for pods, configmaps, secrets and events: a list; with watch, one line of `WatchEvent` JSON for each existing object and each change |
 * | GET /api/v1/nodes, /apis/node.k8s.io/v1/runtimeclasses | likewise, without namespaces |
 * | GET …/NAME | one object |
 * | the same, with `Accept: application/json;as=Table;v=v1;g=meta.k8s.io` | a table for kubectl; `&includeObject=None`, `Metadata` or `Object` selects what each row includes |
 * | DELETE …/NAME [?gracePeriodSeconds=N] | for applied pods, configmaps, secrets and runtimeclasses; the response does not wait for a pod to terminate |
 * | PATCH …/NAME | request body: a merge, strategic merge or JSON patch of `metadata.labels` and `metadata.annotations`; returns the object; only for applied objects |
 * | GET, PUT, PATCH …/pods/NAME/ephemeralcontainers | request body: a pod, or a merge patch or JSON patch of `spec.ephemeralContainers`; returns the pod |
 * | GET, PUT, PATCH …/pods/NAME/resize | request body: a pod, or a merge patch or JSON patch of the resources of `spec.containers` and `spec.initContainers`; returns the pod; only for applied pods |
 * | GET, PATCH …/pods/NAME/status | returns the pod; request body of PATCH: a merge, strategic merge or JSON patch of `status.conditions`; clients may only set conditions that the kubelet does not set itself, such as readiness gates |
 * | GET /apis/metrics.k8s.io/v1/pods, …/namespaces/NS/pods, …/nodes | PodMetricsList, NodeMetricsList |
 * | GET …/pods/NAME/log ?container= &containerID= &follow= &previous= &tailLines= &sinceSeconds= &sinceTime= &timestamps= &limitBytes= &stream= | text |
 * | POST …/pods/NAME/exec ?container= &command=… &stdin= &stdout= &stderr= &tty= | upgrade to SPDY/3.1, proxied to the container runtime |
 * | POST …/pods/NAME/attach, …/portforward | likewise |
 * | POST /podwright/v1/apply [?dryRun=All] [?replace=false] [?unknown=leave] | request body: a manifest; `ApplyResult`: the actions taken, or planned with dryRun; with replace=false nothing is written if an object would be replaced; with unknown=leave objects of unknown kinds are left out |
 * | POST /podwright/v1/namespaces/NS/pods/NAME/restart [?container=] | `RestartAnswer`; the response does not wait for the restart |
 * | GET /podwright/v1/node | `NodeInfo` |
 * | GET /podwright/v1/transfers | lines of `ImageTransfer` |
 * | GET /podwright/v1/traces/UID | `TraceSpan[]` |
 * | POST /podwright/v1/stop [?endPods=true] [?gracePeriodSeconds=5] [?endApiPods=true] [?removeHostState=true] [?restart=true] | the daemon exits; containers keep running unless endPods or endApiPods is set; with restart=true it executes its program again |
 *
 * A node with a Kubernetes API of its own (`[api] enabled`) serves that API under `/api`, `/apis`, `/openapi` and `/version`, with the rights
 * of an administrator. Logs, streams and metrics of pods stay those of the table above.
 *
 * Errors are returned as a Kubernetes `Status` object with `message`, `reason` and `code`.
 */
export type WatchEvent<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type PodWatchEvent = WatchEvent<Pod>;
export type EventWatchEvent = WatchEvent<Event>;

/** Progress of an image transfer. Sizes are in bytes of the compressed blobs known so far. */
export type ImageTransfer = {
  reference: string;
  phase: string;
  doneBytes: number;
  /** Total size of the compressed blobs known so far, in bytes. 0 if unknown; the same applies to `layersTotal`. */
  totalBytes: number;
  layersDone: number;
  layersTotal: number;
  /** Why the transfer failed, in phase `failed`. */
  error: string;
};

export type ApplyOptions = {
  /** Report the actions without writing anything. Default: false. */
  dryRun?: boolean;
  /**
   * Whether to replace existing objects with different content. If not, and the manifest would replace one, nothing is written. Default:
   * true.
   */
  replace?: boolean;
  /**
   * Whether to leave out objects of kinds that the Kubernetes API does not have, like `kubectl apply`, instead of rejecting the whole
   * manifest. Default: false.
   */
  leaveOutUnknown?: boolean;
};

/** What an apply did to each object of the manifest. */
export type ApplyResult = {
  objects: {
    kind: string;
    /** The object's `apiVersion`; set only for kinds that exist only on a node with a Kubernetes API. */
    apiVersion?: string;
    namespace: string;
    name: string;
    /** The object's UID. Set for pods and for objects whose `apiVersion` is set here, unless nothing was written. */
    uid?: string;
    /** `configured`: the pod's labels or annotations were changed; only on a node with a Kubernetes API. */
    action: 'created' | 'replaced' | 'resized' | 'configured' | 'unchanged';
  }[];
  /**
   * Problems the pods will have on this host, and fields that this node ignores; with `dryRun=All`, also problems with the pods' images.
   */
  findings: Finding[];
  /** Ignored parts of the manifest, with their positions in it. */
  warnings: string[];
  /** With `leaveOutUnknown`: an error message for each object left out. Earlier versions omit this field. */
  unknown?: string[];
};

/** How to stop the daemon. */
export type StopOptions = {
  /** If the node is empty, also remove its state from the host. */
  removeHostState: boolean;
  /** First terminate the pods from manifests gracefully; they are recreated when the daemon next starts. */
  endPods: boolean;
  /** Grace period for terminating the pods. Default: each pod's own. A second stop request can shorten it. */
  gracePeriodSeconds?: number;
  /** Also terminate the pods from an API server; they are recreated on the next start unless they have been deleted there. */
  endApiPods?: boolean;
  /** After stopping, execute the program again in the same process. It may have been replaced by another version by then. */
  restart?: boolean;
};

/** Version of the API under `/podwright/v1`. Incremented by changes that an earlier client or node would misunderstand. */
export const LOCAL_API_VERSION = 1;

/** The containers that are being restarted. */
export type RestartAnswer = { containers: string[] };

/** Describes the node that serves the socket. */
export type NodeInfo = {
  name: string;
  version: string;
  /**
   * `commit`: the source commit of the running Podwright; `build`: a digest of its sources. Earlier versions omit both, as well as
   * `localApiVersion`.
   */
  commit?: string;
  build?: string;
  localApiVersion?: number;
  pid: number;
  /** When the node daemon started, in RFC 3339 format. Earlier versions of Podwright omit this, as well as `rootDir` and `stateDir`. */
  startedAt?: string;
  rootDir?: string;
  stateDir?: string;
  runtime: { name: string; version: string; apiVersion: string; endpoint: string };
  manifestDir: string;
  podLogsDir: string;
  podDefaults?: PodDefaults;
  /** Set if the node has its own Kubernetes API, with all built-in kinds. */
  kubernetesApi?: true;
  /**
   * The node's pressure conditions and the currently met eviction thresholds, as text. Under pressure, the node rejects and evicts pods.
   * `detail`: what uses the disk, as text; '' if unknown.
   */
  pressure?: { conditions: readonly string[]; reasons: readonly string[]; detail?: string };
  /** Why pods cannot get a network, or a note about the network. */
  network?: string;
  /** Errors in the files of the manifest directory, with their positions; at most the first hundred. */
  manifestErrors?: string[];
};
