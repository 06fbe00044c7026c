/** Requests for objects: one function per verb. */

import type { DeleteOptions } from './deletion.ts';
import type { FaultTarget } from './faults.ts';
import type { HttpExchange } from './http-exchange.ts';
import { type ApiObject, at, isObject, type JsonObject, textAt } from './json.ts';
import { type ListOptions, readListOptions, versionNumber } from './list-options.ts';
import { readObject } from './object-meta.ts';
import { applyPatch } from './patches.ts';
import type { Place, Registry } from './registry.ts';
import { keyOf } from './registry.ts';
import type { RequestInfo } from './request-info.ts';
import { apiVersionOf, coreKind, type ResourceKind } from './resource-kinds.ts';
import { ApiError, badRequest, expired, forbidden, methodNotAllowed } from './status-error.ts';
import type { UserInfo } from './user-info.ts';
import { watch } from './watch.ts';
import type { WatchStream } from './watch-stream.ts';

export type ResourceRequest = {
  exchange: HttpExchange;
  info: RequestInfo;
  user: UserInfo;
  registry: Registry;
  /** Called with an object before it is written; throws to reject it. */
  admit: (change: { object: ApiObject; old?: ApiObject; body: unknown }) => void;
};

const PODS = coreKind('pods');
const NODES = coreKind('nodes');

/** How long a list waits for a future version, like upstream. */
const FUTURE_VERSION_WAIT_MS = 3_000;

export const placeOf = ({ kind, namespace, name }: RequestInfo): Place => ({ kind, namespace, name });

const isDryRun = ({ url }: HttpExchange): boolean => {
  const given = url.searchParams.getAll('dryRun');
  if (given.some((value) => value !== 'All')) throw badRequest(`invalid dryRun: ${given.join(', ')}`);
  return given.length > 0;
};

export function get({ exchange, info, registry }: ResourceRequest): void {
  exchange.answer(200, registry.get(placeOf(info)));
}

export async function list({ exchange, info, registry }: ResourceRequest): Promise<void> {
  const options = readListOptions(info.kind, exchange.url.searchParams);
  const { store } = registry;
  const wanted = versionNumber(options.resourceVersion);
  const end = performance.now() + FUTURE_VERSION_WAIT_MS;
  while (store.revision < wanted && performance.now() < end && !exchange.signal.aborted)
    await new Promise((resolve) => setTimeout(resolve, 50));
  if (store.revision < wanted) throw futureVersion(wanted, store.revision);
  if (options.resourceVersionMatch === 'Exact' && wanted !== store.revision)
    throw expired('The provided resource version is too old.');
  const found = registry.list(info.kind, info.namespace).filter(options.matches);
  exchange.answer(200, listAnswer(info.kind, { found, options, revision: store.revision }));
}

function futureVersion(wanted: number, present: number): ApiError {
  return new ApiError(504, 'Timeout', {
    message: `Timeout: Too large resource version: ${wanted}, current: ${present}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

type Page = { found: ApiObject[]; options: ListOptions; revision: number };

/** A page continues after the key in its token, at the version of the first page. */
function listAnswer(kind: ResourceKind, { found, options, revision }: Page): JsonObject {
  const token = readToken(options.continue);
  const placed = found.map((object) => ({ object, key: keyOf({ namespace: '', name: '', ...object.metadata }) }));
  const rest = token === undefined ? placed : placed.filter(({ key }) => key > token.after);
  const isLimited = options.limit > 0 && options.resourceVersion !== '0' && rest.length > options.limit;
  const page = isLimited ? rest.slice(0, options.limit) : rest;
  const version = token?.revision ?? revision;
  const next = isLimited ? { continue: writeToken({ after: page.at(-1)!.key, revision: version }) } : {};
  const left = isLimited && !options.hasSelector ? { remainingItemCount: rest.length - page.length } : {};
  return {
    kind: `${kind.kind}List`,
    apiVersion: apiVersionOf(kind),
    metadata: { resourceVersion: String(version), ...next, ...left },
    items: page.map(({ object: { kind: _, apiVersion: __, ...item } }) => item),
  };
}

type ContinueToken = { after: string; revision: number };

const writeToken = (token: ContinueToken) => Buffer.from(JSON.stringify(token)).toString('base64url');

function readToken(text: string): ContinueToken | undefined {
  if (text === '') return undefined;
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isObject(token) && typeof token.after === 'string') return token as ContinueToken;
  } catch {}
  throw badRequest('continue key is not valid: it is not a token of this server');
}

export async function watchMany({ exchange, info, registry }: ResourceRequest, stream: WatchStream): Promise<void> {
  const { kind, namespace } = info;
  const options = readListOptions(kind, exchange.url.searchParams);
  if (info.name !== '') options.matches = onlyName(info.name, options.matches);
  if (!/^\d*$/.test(options.resourceVersion))
    throw new ApiError(500, '', { message: `invalid resource version "${options.resourceVersion}"` });
  stream.begin();
  const ended = watch(
    registry,
    { kind, namespace },
    {
      options,
      send: (event) => stream.send(event),
      signal: exchange.signal,
    },
  );
  stream.live();
  await ended;
  stream.end();
}

const onlyName = (name: string, matches: ListOptions['matches']) => (object: ApiObject) =>
  object.metadata.name === name && matches(object);

export async function create({ exchange, info, user, registry, admit }: ResourceRequest): Promise<void> {
  const { kind, namespace } = info;
  const body = await exchange.body();
  const object = readObject(kind, body, namespace);
  admit({ object, body });
  exchange.answer(201, registry.create(kind, object, { user, dryRun: isDryRun(exchange) }));
}

export async function update({ exchange, info, user, registry, admit }: ResourceRequest): Promise<void> {
  const { kind, namespace, name, subresource } = info;
  const body = await exchange.body();
  const object = readObject(kind, body, namespace);
  if (object.metadata.name !== name)
    throw badRequest(
      `the name of the object (${object.metadata.name ?? ''}) does not match the name on the URL (${name})`,
    );
  const dryRun = isDryRun(exchange);
  if (kind.createOnUpdate && subresource === '' && registry.find(placeOf(info)) === undefined) {
    const { resourceVersion: _, ...metadata } = object.metadata;
    admit({ object, body });
    return exchange.answer(201, registry.create(kind, { ...object, metadata }, { user, dryRun }));
  }
  const change = (old: ApiObject) => {
    admit({ object, old, body });
    return object;
  };
  exchange.answer(200, registry.update(placeOf(info), change, { user, dryRun, subresource }));
}

export async function patch({ exchange, info, user, registry, admit }: ResourceRequest): Promise<void> {
  const { kind, subresource } = info;
  const body = await exchange.body();
  const change = (old: ApiObject) => {
    const patched = applyPatch(exchange.mediaType, { kind, old, patch: body });
    const object = readObject(kind, patched, info.namespace);
    if (subresource === 'resize') checkNodeOf(registry, old);
    admit({ object, old, body });
    return object;
  };
  const options = { user, dryRun: isDryRun(exchange), subresource, isPatch: true };
  const patched = registry.update(placeOf(info), change, options);
  exchange.answer(200, wantsMetadata(exchange) ? metadataOf(patched) : patched);
}

const wantsMetadata = (exchange: HttpExchange): boolean =>
  exchange.header('accept').startsWith('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');

const metadataOf = ({ metadata }: ApiObject) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

/** Pods are resized by their node, so the node must exist. */
function checkNodeOf(registry: Registry, pod: ApiObject): void {
  const node = textAt(pod, 'spec', 'nodeName');
  if (registry.find({ kind: NODES, namespace: '', name: node }) === undefined)
    throw forbidden(PODS, pod.metadata.name ?? '', `node "${node}" not found`);
}

/** Options of a DELETE, from the body or the query. */
async function deleteOptions(exchange: HttpExchange): Promise<DeleteOptions & { dryRun: boolean }> {
  const body = await exchange.body();
  const given = isObject(body) ? body : {};
  const query = exchange.url.searchParams;
  const grace = at(given, 'gracePeriodSeconds') ?? query.get('gracePeriodSeconds') ?? undefined;
  const policy = at(given, 'propagationPolicy') ?? query.get('propagationPolicy') ?? undefined;
  return {
    ...(grace === undefined || grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy ? { propagationPolicy: String(policy) } : {}),
    preconditions: at(given, 'preconditions') as DeleteOptions['preconditions'],
    dryRun: isDryRun(exchange) || (Array.isArray(given.dryRun) && given.dryRun.includes('All')),
  };
}

export async function remove({ exchange, info, user, registry, admit }: ResourceRequest): Promise<void> {
  const options = await deleteOptions(exchange);
  const old = registry.get(placeOf(info));
  admit({ object: old, old, body: undefined });
  const { object, gone } = registry.delete(placeOf(info), { ...options, user });
  exchange.answer(200, deletedAnswer(info.kind, object, gone));
}

/** The response is the object itself for pods and for objects that are not removed yet, else a Status. */
function deletedAnswer(kind: ResourceKind, object: ApiObject, gone: boolean): JsonObject {
  if (!gone || kind.kind === 'Pod') return object;
  const { name, uid } = object.metadata;
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

export async function removeMany({ exchange, info, user, registry }: ResourceRequest): Promise<void> {
  const { kind, namespace } = info;
  const options = await deleteOptions(exchange);
  const listed = readListOptions(kind, exchange.url.searchParams);
  const found = registry.list(kind, namespace).filter(listed.matches);
  const deleted = found.map(({ metadata }) => {
    const place = { kind, namespace: metadata.namespace ?? '', name: metadata.name! };
    return registry.delete(place, { ...options, user }).object;
  });
  const revision = registry.store.revision;
  exchange.answer(200, listAnswer(kind, { found: deleted, options: { ...listed, limit: 0 }, revision }));
}

/** Dispatches a request by its verb. */
export async function handleResource(request: ResourceRequest, stream: () => WatchStream): Promise<void> {
  switch (request.info.verb) {
    case 'get':
      return get(request);
    case 'list':
      return list(request);
    case 'watch':
      return watchMany(request, stream());
    case 'create':
      return create(request);
    case 'update':
      return update(request);
    case 'patch':
      return patch(request);
    case 'delete':
      return remove(request);
    case 'deletecollection':
      return removeMany(request);
    default:
      throw methodNotAllowed();
  }
}

export const targetOf = ({ verb, kind, namespace, name, subresource }: RequestInfo, user: string): FaultTarget => ({
  verb,
  resource: subresource === '' ? kind.plural : `${kind.plural}/${subresource}`,
  namespace,
  name,
  user,
});
