import { PodwrightError } from '@podwright/base';
import type { ApiObject, ApiPort, ApiRequest, WatchedChange } from './api-port.ts';
import type { ResourceKind } from './kinds/resource-kind.ts';
import type { Target } from './target.ts';

/** A fake API server that answers GET requests by path, records other requests, and sends scripted events to watches. */
export class FakeApi implements ApiPort {
  readonly answers: Record<string, unknown>;
  readonly changes: WatchedChange[];
  readonly sent: Pick<ApiRequest, 'method' | 'path' | 'body' | 'contentType'>[] = [];

  constructor(answers: Record<string, unknown> = {}, changes: WatchedChange[] = []) {
    this.answers = answers;
    this.changes = changes;
  }

  async call({ method, path, body, contentType }: ApiRequest): Promise<unknown> {
    if (method !== 'GET') {
      this.sent.push({ method, path, body, contentType });
      return body;
    }
    if (path in this.answers) return this.answers[path];
    throw new PodwrightError('not_found', 'the server could not find the requested resource');
  }

  async *watch(): AsyncIterable<WatchedChange> {
    yield* this.changes;
  }
}

export function targetOf(kind: string, object: object, group = 'apps'): Target {
  const plural = `${kind.toLowerCase()}s`;
  const resource: ResourceKind = {
    ...{ group, version: 'v1', kind, plural, singular: kind.toLowerCase(), short: [], categories: [], verbs: [] },
    ...{ namespaced: true, subresources: ['scale'] },
  };
  const metadata = { name: 'web', namespace: 'd', uid: 'u' };
  const path = `/apis/${group}/v1/namespaces/d/${plural}/web`;
  return { kind: resource, path, object: { apiVersion: `${group}/v1`, kind, metadata, ...object } as ApiObject };
}
