import { errorCode, isNotFound, isRecord } from '@podwright/base';
import {
  completeEvent,
  type Event,
  eventSelector,
  type KubeObject,
  type Pod,
  pathOf,
  type ReceivedEvent,
  type Resource,
} from '@podwright/kube-api';
import { VIEWED, type ViewReader } from './view-reader.ts';

/** Number of lines of a container's log that an explanation contains. */
const LOG_LINES = 5;
/** Maximum length of a log line in an explanation, in characters. */
const MAX_LINE_LENGTH = 4 << 10;

/** Sends GET requests to an API server. Both functions reject with the error code of the HTTP status, such as `not_found`. */
export type ViewCalls = {
  json(path: string): Promise<unknown>;
  text(path: string): Promise<string>;
};

const EVENTS = { group: '', version: 'v1', plural: 'events', namespaced: true };

/** Reads the objects, events and logs that an explanation needs from an API server. */
export class ApiViewReader implements ViewReader {
  readonly #calls: ViewCalls;

  constructor(calls: ViewCalls) {
    this.#calls = calls;
  }

  async get(resource: Resource, namespace: string, name: string): Promise<KubeObject | undefined> {
    const found = await unlessAbsent(this.#calls.json(pathOf(resource, { namespace, name })));
    return found as KubeObject | undefined;
  }

  async list(resource: Resource, namespace: string): Promise<KubeObject[]> {
    return itemsOf(await unlessAbsent(this.#calls.json(pathOf(resource, { namespace })))) as KubeObject[];
  }

  async events({ namespace, ...about }: Parameters<ViewReader['events']>[0]): Promise<Event[]> {
    const selector = encodeURIComponent(eventSelector(about));
    const path = `${pathOf(EVENTS, { namespace })}?fieldSelector=${selector}`;
    const events = itemsOf(await unlessForbidden(unlessAbsent(this.#calls.json(path)))) as ReceivedEvent[];
    return events.map(completeEvent).sort((a, b) => timeOf(a) - timeOf(b));
  }

  async log({ metadata }: Pod, container: string, previous: boolean): Promise<string[]> {
    const { namespace, name } = metadata;
    const query = new URLSearchParams({
      ...{ container, tailLines: String(LOG_LINES), limitBytes: String(LOG_LINES * MAX_LINE_LENGTH) },
      ...(previous && { previous: 'true' }),
    });
    const path = `${pathOf(VIEWED.pods, { namespace, name, subresource: 'log' })}?${query}`;
    // if the node does not respond or has removed the log, the object and its events still explain the pod
    const text = await this.#calls.text(path).catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.slice(-LOG_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH));
  }
}

/** Resolves to undefined instead of rejecting with `not_found`, which means that the object or its kind does not exist. */
function unlessAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Resolves to undefined instead of rejecting with `permission_denied` if the user may not read the object. */
export function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (errorCode(error) === 'permission_denied') return undefined;
    throw error;
  });
}

const itemsOf = (list: unknown): unknown[] => (isRecord(list) && Array.isArray(list.items) ? list.items : []);

const timeOf = ({ lastTimestamp }: Event): number => Date.parse(lastTimestamp) || 0;
