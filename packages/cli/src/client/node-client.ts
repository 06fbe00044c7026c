import { createInterface } from 'node:readline';
import type { ApplyResult, Event, EventWatchEvent, NodeInfo, Pod, PodWatchEvent, TraceSpan } from '@podwright/kubelet';
import { UnixHttp } from './unix-http.ts';

export type LogOptions = {
  container?: string;
  follow?: boolean;
  previous?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  timestamps?: boolean;
};

const podPath = (namespace: string, name: string) =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;

/** The local API of a node, typed. */
export class NodeClient {
  readonly http: UnixHttp;

  constructor(socketPath: string) {
    this.http = new UnixHttp(socketPath);
  }

  node(signal?: AbortSignal): Promise<NodeInfo> {
    return this.http.json({ method: 'GET', path: '/podwright/v1/node', signal });
  }

  async pods(): Promise<Pod[]> {
    return (await this.http.json<{ items: Pod[] }>({ method: 'GET', path: '/api/v1/pods' })).items;
  }

  pod(namespace: string, name: string): Promise<Pod> {
    return this.http.json({ method: 'GET', path: podPath(namespace, name) });
  }

  async events(): Promise<Event[]> {
    return (await this.http.json<{ items: Event[] }>({ method: 'GET', path: '/api/v1/events' })).items;
  }

  watchPods(signal: AbortSignal): AsyncGenerator<PodWatchEvent> {
    return this.#watch('/api/v1/pods', signal);
  }

  watchEvents(signal: AbortSignal): AsyncGenerator<EventWatchEvent> {
    return this.#watch('/api/v1/events', signal);
  }

  apply(manifest: string): Promise<ApplyResult> {
    return this.http.json({ method: 'POST', path: '/podwright/v1/apply', body: manifest });
  }

  /** Deletes an object of a kind that can be applied: Pod, ConfigMap, Secret, RuntimeClass. */
  async delete(object: { kind: string; namespace: string; name: string }, gracePeriodSeconds?: number): Promise<void> {
    const plural = { Pod: 'pods', ConfigMap: 'configmaps', Secret: 'secrets', RuntimeClass: 'runtimeclasses' }[
      object.kind
    ];
    const path = `/api/v1/namespaces/${encodeURIComponent(object.namespace)}/${plural}/${encodeURIComponent(object.name)}`;
    await this.http.json({ method: 'DELETE', path, query: { gracePeriodSeconds: gracePeriodSeconds?.toString() } });
  }

  traces(podUid: string): Promise<TraceSpan[]> {
    return this.http.json({ method: 'GET', path: `/podwright/v1/traces/${encodeURIComponent(podUid)}` });
  }

  async log(
    pod: { namespace: string; name: string },
    options: LogOptions,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    return this.http.stream({
      method: 'GET',
      path: `${podPath(pod.namespace, pod.name)}/log`,
      query: {
        container: options.container,
        follow: options.follow ? 'true' : undefined,
        previous: options.previous ? 'true' : undefined,
        tailLines: options.tailLines?.toString(),
        sinceSeconds: options.sinceSeconds?.toString(),
        timestamps: options.timestamps ? 'true' : undefined,
      },
      signal,
    });
  }

  /** Asks the daemon to end. Containers go on; `removeHostState` also takes down what an empty node leaves on the host. */
  async stop(options: { removeHostState: boolean }): Promise<void> {
    await this.http.json({
      method: 'POST',
      path: '/podwright/v1/stop',
      query: { removeHostState: String(options.removeHostState) },
    });
  }

  async *#watch<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
    const response = await this.http.stream({ method: 'GET', path, query: { watch: 'true' }, signal });
    try {
      for await (const line of createInterface({ input: response })) if (line !== '') yield JSON.parse(line) as T;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      response.destroy();
    }
  }
}
