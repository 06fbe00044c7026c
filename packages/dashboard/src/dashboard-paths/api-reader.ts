import { type Event, eventSelector, type KubeObject, type Pod, type Resource } from '@podwright/kube-api';
import type { ViewReader } from '@podwright/kube-view';
import { LOG_LINES, MAX_LINE_BYTES } from '../limits.ts';
import { absentAsUndefined, type JsonCalls } from '../upstream/json-calls.ts';

/** Reads the objects, events and logs that an explanation needs from an API server. */
export class ApiReader implements ViewReader {
  readonly #calls: JsonCalls;
  readonly #signal: AbortSignal;

  constructor(calls: JsonCalls, signal: AbortSignal) {
    this.#calls = calls;
    this.#signal = signal;
  }

  async get(resource: Resource, namespace: string, name: string): Promise<KubeObject | undefined> {
    const found = await this.#calls.find(pathOf(resource, namespace, name), this.#signal);
    return found as KubeObject | undefined;
  }

  async list(resource: Resource, namespace: string): Promise<KubeObject[]> {
    const list = await this.#calls.find(pathOf(resource, namespace), this.#signal);
    return itemsOf(list) as KubeObject[];
  }

  async events({ namespace, ...about }: Parameters<ViewReader['events']>[0]): Promise<Event[]> {
    const path = namespace === '' ? '/api/v1/events' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    const selector = encodeURIComponent(eventSelector(about));
    const events = itemsOf(await this.#calls.find(`${path}?fieldSelector=${selector}`, this.#signal)) as Event[];
    return events.sort((a, b) => timeOf(a) - timeOf(b));
  }

  async log({ metadata }: Pod, container: string, previous: boolean): Promise<string[]> {
    const { namespace, name } = metadata;
    const query = new URLSearchParams({ container, previous: String(previous), tailLines: String(LOG_LINES) });
    const path = `${pathOf(PODS, namespace, name)}/log?${query}&limitBytes=${LOG_LINES * MAX_LINE_BYTES}`;
    const text = await absentAsUndefined(this.#calls.text(path, this.#signal));
    return (text ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .slice(-LOG_LINES)
      .map((line) => line.slice(0, MAX_LINE_BYTES));
  }
}

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };

/** Returns the API path of an object or, without `name`, of a collection. The namespace '' means all namespaces. */
export function pathOf(
  { group, version, plural, namespaced }: Pick<Resource, 'group' | 'version' | 'plural' | 'namespaced'>,
  namespace: string,
  name?: string,
): string {
  const place = namespaced && namespace !== '' ? ['namespaces', namespace] : [];
  const parts = [...place, plural, ...(name === undefined ? [] : [name])].map(encodeURIComponent);
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}/${parts.join('/')}`;
}

function itemsOf(list: Record<string, unknown> | undefined): unknown[] {
  return Array.isArray(list?.items) ? list.items : [];
}

const timeOf = ({ lastTimestamp, metadata }: Event) =>
  Date.parse(lastTimestamp ?? (metadata as { creationTimestamp?: string }).creationTimestamp ?? '') || 0;
