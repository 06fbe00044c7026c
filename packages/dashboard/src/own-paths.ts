import type { IncomingMessage } from 'node:http';
import { isRecord, PodwrightError } from '@podwright/base';
import { MAX_OWN_BODY_BYTES } from './limits.ts';
import { describeSession } from './own/describe-session.ts';
import { explain } from './own/explain.ts';
import type { NodeUsageReader } from './own/node-usage.ts';
import { tryService } from './own/try-service.ts';
import type { ApiServer } from './upstream/api-server.ts';
import { bodyOf } from './upstream/forward-request.ts';
import type { JsonCalls } from './upstream/json-calls.ts';

export type OwnCall = { request: IncomingMessage; query: URLSearchParams; signal: AbortSignal };
export type OwnParts = { api: ApiServer; calls: JsonCalls; usage: NodeUsageReader };

/** The server's own paths, by method and path. Each returns the answer, which is sent as JSON. */
export function ownPaths({ api, calls, usage }: OwnParts): Record<string, (call: OwnCall) => Promise<unknown>> {
  return {
    'GET /dashboard/session': ({ signal }) => describeSession(api, calls, signal),
    'GET /dashboard/why': ({ query, signal }) => {
      const field = (name: string) => query.get(name) ?? '';
      return explain(calls, { kind: field('kind'), namespace: field('namespace'), name: field('name') }, signal);
    },
    'GET /dashboard/traces': ({ query, signal }) => {
      if (!api.isNode)
        throw new PodwrightError('not_found', 'traces are read from the socket of a Podwright node only');
      return readTraces(calls, query.get('uid') ?? '', signal);
    },
    'GET /dashboard/usage': ({ query, signal }) => usage.read(Number(query.get('after')) || 0, signal),
    'POST /dashboard/try': async ({ request, signal }) => {
      const { namespace, service, port } = await bodyFields(request);
      if (typeof namespace !== 'string' || typeof service !== 'string' || typeof port !== 'number')
        throw new PodwrightError('invalid_argument', 'namespace and service must be texts, and port a number');
      return await tryService(calls, { namespace, service, port }, signal);
    },
  };
}

async function readTraces(calls: JsonCalls, uid: string, signal: AbortSignal): Promise<unknown> {
  if (!/^[\w.-]{1,253}$/.test(uid)) throw new PodwrightError('invalid_argument', "uid: the pod's UID is required");
  return JSON.parse(await calls.text(`/podwright/v1/traces/${encodeURIComponent(uid)}`, signal));
}

/** Reads a body with a JSON object. Throws `invalid_argument` if it is none, or has another type: forms of other pages have theirs. */
export async function bodyFields(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new PodwrightError('invalid_argument', 'the body must have the type application/json');
  const body = await bodyOf(request, MAX_OWN_BODY_BYTES);
  let value: unknown;
  try {
    value = JSON.parse(String(body ?? ''));
  } catch {
    // reported below
  }
  if (isRecord(value)) return value;
  throw new PodwrightError('invalid_argument', 'the body must be a JSON object');
}
