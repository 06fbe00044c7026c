/** The handling of each request: recording, faults, authentication, authorization, response. */
import type { Authenticator } from './authentication.ts';
import type { Authorizer } from './authorization.ts';
import {
  AGGREGATED,
  aggregatedGroups,
  coreVersions,
  groupList,
  openApiDocument,
  openApiIndex,
  resourceList,
  VERSION_ANSWER,
} from './discovery.ts';
import type { Fault, Faults } from './faults.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { JsonObject } from './json.ts';
import type { Registry } from './registry.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';
import { handleResource, type ResourceRequest, targetOf } from './resource-handler.ts';
import { answerReview } from './reviews.ts';
import { ApiError, expired, internalError, invalid } from './status-error.ts';
import { handleSubresource, type SubresourceParts } from './subresources.ts';
import { WatchStream } from './watch-stream.ts';

export type ServerParts = SubresourceParts & {
  registry: Registry;
  authenticator: Authenticator;
  authorizer: Authorizer;
  faults: Faults;
};

/** Responds to a request, also with errors. */
export async function handleRequest(exchange: HttpExchange, parts: ServerParts): Promise<void> {
  try {
    await handle(exchange, parts);
  } catch (error) {
    answerError(exchange, error);
  }
}

function answerError(exchange: HttpExchange, error: unknown): void {
  const { status } =
    error instanceof ApiError ? error : internalError(error instanceof Error ? (error.stack ?? '') : '');
  const seconds = status.details?.retryAfterSeconds;
  exchange.answer(status.code, status, seconds === undefined ? {} : { 'retry-after': String(seconds) });
}

async function handle(exchange: HttpExchange, parts: ServerParts): Promise<void> {
  const { recorded, url } = exchange;
  const info = requestInfo(recorded.method, url.pathname, url.searchParams);
  const user = parts.authenticator.userOf(exchange.socket, exchange.header('authorization') || undefined);
  recorded.user = user.username;
  const target = info === undefined ? undefined : targetOf(info, user.username);
  Object.assign(recorded, target === undefined ? {} : { ...target, user: user.username });
  const faults = parts.faults.take(target ?? NO_RESOURCE(user.username));
  if (!(await survives(exchange, faults, info))) return;
  if (info === undefined) return answerPath(exchange);
  const request: ResourceRequest = {
    exchange,
    info,
    user,
    registry: parts.registry,
    admit: (change) => parts.authorizer.admit({ ...change, info, user }),
  };
  parts.authorizer.check(info, user, url.searchParams);
  await answerResource(request, parts, faults);
}

const NO_RESOURCE = (user: string) => ({ verb: '', resource: '', namespace: '', name: '', user });

function answerResource(request: ResourceRequest, parts: ServerParts, faults: Fault[]): Promise<void> {
  const { kind, subresource } = request.info;
  if (kind.review) return answerReview(request, parts);
  const isPlain =
    subresource === '' || ['status', 'ephemeralcontainers', 'resize', 'approval', 'finalize'].includes(subresource);
  if (!isPlain) return handleSubresource(request, parts);
  return handleResource(request, () => new WatchStream(request.exchange, faults));
}

/** Applies the faults of the response as a whole; false if a response has been sent. */
async function survives(exchange: HttpExchange, faults: Fault[], info: RequestInfo | undefined): Promise<boolean> {
  for (const fault of faults)
    switch (fault.kind) {
      case 'late':
        await new Promise((resolve) => setTimeout(resolve, fault.ms));
        break;
      case 'status':
        await refuse(exchange, fault);
        return false;
      case 'cut-before-headers':
        exchange.cut();
        return false;
      case 'lose-answer':
        exchange.loseAnswer();
        break;
      case 'cut-in-line':
        if (info?.verb !== 'watch') exchange.halveAnswer();
        break;
      case 'empty-stream':
        if (fault.close !== true) break;
        exchange.begin(200, { 'content-type': 'application/json' });
        exchange.end();
        return false;
      case 'no-watch-list':
        if (exchange.url.searchParams.has('sendInitialEvents')) throw noWatchList();
        break;
      case 'expired':
        return refuseVersion(exchange, fault.as);
    }
  return true;
}

async function refuse(exchange: HttpExchange, fault: Extract<Fault, { kind: 'status' }>): Promise<void> {
  const { code, reason = '', message = 'a fault injected by the test', retryAfterSeconds, body } = fault;
  await exchange.body().catch(() => undefined);
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  exchange.answer(code, body ?? new ApiError(code, reason, { message, details }).status, headers);
}

function noWatchList(): ApiError {
  const field = 'sendInitialEvents';
  const message = `Forbidden: ${field} is forbidden for watch unless the WatchList feature gate is enabled`;
  const causes = [{ reason: 'FieldValueForbidden', message, field }];
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
}

function refuseVersion(exchange: HttpExchange, as: 'status' | 'event'): boolean {
  const error = expired('too old resource version: 1 (2)');
  if (as === 'status') throw error;
  exchange.begin(200, { 'content-type': 'application/json' });
  exchange.write(`${JSON.stringify({ type: 'ERROR', object: error.status })}\n`);
  exchange.end();
  return false;
}

/** Paths other than those of resources. */
function answerPath(exchange: HttpExchange): void {
  const path = exchange.url.pathname;
  const isAggregated = exchange.header('accept').includes('as=APIGroupDiscoveryList');
  const fixed = FIXED[path]?.(isAggregated);
  if (fixed !== undefined) {
    const isList = (path === '/api' || path === '/apis') && isAggregated;
    return exchange.answer(200, fixed, isList ? { 'content-type': AGGREGATED, vary: 'Accept' } : {});
  }
  const found = path.startsWith('/openapi/v3/') ? openApiDocument(path.slice('/openapi/v3/'.length)) : resources(path);
  if (found === undefined) exchange.answer(404, '404 page not found\n');
  else exchange.answer(200, found);
}

const FIXED: Record<string, (isAggregated: boolean) => JsonObject | string> = {
  '/version': () => VERSION_ANSWER,
  '/healthz': () => 'ok',
  '/livez': () => 'ok',
  '/readyz': () => 'ok',
  '/api': (isAggregated) => (isAggregated ? aggregatedGroups(true) : coreVersions()),
  '/apis': (isAggregated) => (isAggregated ? aggregatedGroups(false) : groupList()),
  '/openapi/v3': () => openApiIndex(),
};

function resources(path: string): JsonObject | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts[0] === 'api' && parts.length === 2) return resourceList('', parts[1]!);
  if (parts[0] === 'apis' && parts.length === 3) return resourceList(parts[1]!, parts[2]!);
  return undefined;
}
