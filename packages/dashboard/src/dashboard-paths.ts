import type { IncomingMessage } from 'node:http';
import { isRecord, PodwrightError } from '@podwright/base';
import { describeSession } from './dashboard-paths/describe-session.ts';
import { explain } from './dashboard-paths/explain.ts';
import { findNamespaces } from './dashboard-paths/find-namespaces.ts';
import type { NodeUsageReader } from './dashboard-paths/node-usage.ts';
import { readTraces } from './dashboard-paths/read-traces.ts';
import { tryService } from './dashboard-paths/try-service.ts';
import { MAX_DASHBOARD_BODY_BYTES } from './limits.ts';
import type { ApiServer } from './upstream/api-server.ts';
import { bodyOf } from './upstream/forward-request.ts';
import type { JsonCalls } from './upstream/json-calls.ts';

/** A request for one of the dashboard's own paths. */
export type DashboardCall = { request: IncomingMessage; query: URLSearchParams; signal: AbortSignal };
export type DashboardPathOptions = {
  api: ApiServer;
  calls: JsonCalls;
  usage: NodeUsageReader;
  /** The namespace that the page shows first. */
  namespace?: string;
};

/** Returns handlers for the paths under `/dashboard`, by method and path. Their results are sent as JSON. */
export function dashboardPaths({
  api,
  calls,
  usage,
  namespace,
}: DashboardPathOptions): Record<string, (call: DashboardCall) => Promise<unknown>> {
  return {
    'GET /dashboard/session': ({ signal }) => describeSession({ api, calls, namespace }, signal),
    'GET /dashboard/namespaces': ({ signal }) => findNamespaces(api, calls, signal),
    'GET /dashboard/why': ({ query, signal }) => {
      const field = (name: string) => query.get(name) ?? '';
      return explain(calls, { kind: field('kind'), namespace: field('namespace'), name: field('name') }, signal);
    },
    'GET /dashboard/traces': ({ query, signal }) => {
      const pod = { node: query.get('node') ?? '', uid: query.get('uid') ?? '' };
      return readTraces({ api, calls }, pod, signal);
    },
    'GET /dashboard/usage': ({ query, signal }) => usage.read(Number(query.get('after')) || 0, signal),
    'POST /dashboard/try': async ({ request, signal }) => {
      const { namespace, service, port } = await bodyFields(request);
      if (typeof namespace !== 'string' || typeof service !== 'string' || typeof port !== 'number')
        throw new PodwrightError(
          'invalid_argument',
          'namespace and service must be strings, and port must be a number',
        );
      return await tryService(calls, { namespace, service, port }, signal);
    },
  };
}

/**
 * Reads a JSON object from the request body. Rejects with `invalid_argument` if the body is not a JSON object or has a different content
 * type. Other origins cannot send this content type without a preflight.
 */
export async function bodyFields(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new PodwrightError('invalid_argument', 'the body must have the type application/json');
  const body = await bodyOf(request, MAX_DASHBOARD_BODY_BYTES);
  let value: unknown;
  try {
    value = JSON.parse(String(body ?? ''));
  } catch {
    // not JSON, so it is rejected below
  }
  if (isRecord(value)) return value;
  throw new PodwrightError('invalid_argument', 'the body must be a JSON object');
}
