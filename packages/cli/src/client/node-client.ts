import { createInterface } from 'node:readline';
import type {
  ApplyResult,
  Event,
  EventWatchEvent,
  NodeInfo,
  Pod,
  PodWatchEvent,
  RestartAnswer,
  TraceSpan,
} from '@podwright/kubelet';
import {
  type Decoder,
  decodeAnything,
  decodeApplyResult,
  decodeEventChange,
  decodeEvents,
  decodeNode,
  decodePod,
  decodePodChange,
  decodePods,
  decodeRestart,
  decodeSpans,
} from './answers.ts';
import { parseJson, UnixHttp } from './unix-http.ts';

export type LogOptions = {
  container?: string;
  follow?: boolean;
  previous?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  /** RFC 3339. */
  sinceTime?: string;
  limitBytes?: number;
  timestamps?: boolean;
};

/** The path of a pod in the API. */
export const podPath = (namespace: string, name: string) =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;

/** The local API of a node, typed. */
export class NodeClient {
  readonly http: UnixHttp;

  constructor(socketPath: string) {
    this.http = new UnixHttp(socketPath);
  }

  node(signal?: AbortSignal): Promise<NodeInfo> {
    return this.http.json({ method: 'GET', path: '/podwright/v1/node', signal }, decodeNode);
  }

  async pods(): Promise<Pod[]> {
    return (await this.http.json({ method: 'GET', path: '/api/v1/pods' }, decodePods)).items;
  }

  pod(namespace: string, name: string, signal?: AbortSignal): Promise<Pod> {
    return this.http.json({ method: 'GET', path: podPath(namespace, name), signal }, decodePod);
  }

  async events(): Promise<Event[]> {
    return (await this.http.json({ method: 'GET', path: '/api/v1/events' }, decodeEvents)).items;
  }

  watchPods(signal: AbortSignal): AsyncGenerator<PodWatchEvent> {
    return this.#watch('/api/v1/pods', decodePodChange, signal);
  }

  watchEvents(signal: AbortSignal): AsyncGenerator<EventWatchEvent> {
    return this.#watch('/api/v1/events', decodeEventChange, signal);
  }

  apply(manifest: string): Promise<ApplyResult> {
    return this.http.json({ method: 'POST', path: '/podwright/v1/apply', body: manifest }, decodeApplyResult);
  }

  /** Deletes an object of a kind that can be applied: Pod, ConfigMap, Secret, RuntimeClass. */
  async delete(object: { kind: string; namespace: string; name: string }, gracePeriodSeconds?: number): Promise<void> {
    const plural = { Pod: 'pods', ConfigMap: 'configmaps', Secret: 'secrets', RuntimeClass: 'runtimeclasses' }[
      object.kind
    ];
    const path = `/api/v1/namespaces/${encodeURIComponent(object.namespace)}/${plural}/${encodeURIComponent(object.name)}`;
    const query = { gracePeriodSeconds: gracePeriodSeconds?.toString() };
    await this.http.json({ method: 'DELETE', path, query }, decodeAnything);
  }

  /** Restarts a pod's containers in place, or the one that is named; they are not waited for. */
  restart(pod: { namespace: string; name: string }, container: string | undefined): Promise<RestartAnswer> {
    const path = podPath(pod.namespace, pod.name).replace('/api/v1/', '/podwright/v1/');
    return this.http.json({ method: 'POST', path: `${path}/restart`, query: { container } }, decodeRestart);
  }

  traces(podUid: string): Promise<TraceSpan[]> {
    return this.http.json({ method: 'GET', path: `/podwright/v1/traces/${encodeURIComponent(podUid)}` }, decodeSpans);
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
        sinceTime: options.sinceTime,
        limitBytes: options.limitBytes?.toString(),
        timestamps: options.timestamps ? 'true' : undefined,
      },
      signal,
    });
  }

  /** Asks the daemon to end. Containers go on; `removeHostState` also takes down what an empty node leaves on the host. */
  async stop(options: { removeHostState: boolean }): Promise<void> {
    const query = { removeHostState: String(options.removeHostState) };
    await this.http.json({ method: 'POST', path: '/podwright/v1/stop', query }, decodeAnything);
  }

  async *#watch<T>(path: string, decode: Decoder<T>, signal: AbortSignal): AsyncGenerator<T> {
    const response = await this.http.stream({ method: 'GET', path, query: { watch: 'true' }, signal });
    try {
      for await (const line of createInterface({ input: response })) if (line !== '') yield decode(parseJson(line));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      response.destroy();
    }
  }
}
