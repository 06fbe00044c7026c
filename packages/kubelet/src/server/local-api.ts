import type { Event, Pod } from '../api/types.ts';
import type { PodDefaults } from '../kubelet.ts';

/**
 * The HTTP API of a lone node, on a unix socket that only root may open. Paths and objects are the Kubernetes
 * API's where it has them, so that its clients can be pointed at it; the rest is below `/podwright/v1`.
 *
 * | method, path | answer |
 * | --- | --- |
 * | GET /healthz | `ok` |
 * | GET /metrics | Prometheus text |
 * | GET /api/v1/pods, /api/v1/namespaces/NS/pods [?watch=true] | PodList, or a line of `WatchEvent<Pod>` JSON a change, beginning with what is there |
 * | GET, DELETE /api/v1/namespaces/NS/pods/NAME [?gracePeriodSeconds=N] | Pod; deletion answers at once |
 * | GET …/pods/NAME/log ?container= &follow= &previous= &tailLines= &sinceSeconds= &timestamps= &limitBytes= | text |
 * | POST …/pods/NAME/exec ?container= &command=… &stdin= &stdout= &stderr= &tty= | upgrade to SPDY/3.1, proxied to the runtime |
 * | POST …/pods/NAME/attach, …/portforward | likewise |
 * | GET /api/v1/events [?watch=true] | EventList, or lines of `WatchEvent<Event>` |
 * | POST /podwright/v1/apply | body: a manifest; `ApplyResult` |
 * | POST /podwright/v1/namespaces/NS/pods/NAME/restart [?container=] | `RestartAnswer`; its containers are not waited for |
 * | GET /podwright/v1/node | `NodeInfo` |
 * | GET /podwright/v1/traces/UID | `TraceSpan[]` |
 * | POST /podwright/v1/stop | the daemon ends; containers go on |
 *
 * Errors are a Kubernetes `Status` object with `message`, `reason` and `code`.
 */
export type WatchEvent<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type PodWatchEvent = WatchEvent<Pod>;
export type EventWatchEvent = WatchEvent<Event>;

/** What an apply did with each object of the manifest. */
export type ApplyResult = {
  objects: {
    kind: string;
    namespace: string;
    name: string;
    uid?: string;
    action: 'created' | 'replaced' | 'unchanged';
  }[];
};

/** The containers that are being restarted. */
export type RestartAnswer = { containers: string[] };

/** The node that serves the socket. */
export type NodeInfo = {
  name: string;
  version: string;
  pid: number;
  runtime: { name: string; version: string; apiVersion: string; endpoint: string };
  manifestDir: string;
  podLogsDir: string;
  podDefaults?: PodDefaults;
};
