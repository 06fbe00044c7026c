import { badRequest } from '@podwright/api-machinery';
import { withTimeout } from '@podwright/base';
import { type ListParameters, listParameters } from '../wire/list-options.ts';
import { negotiateObject, negotiateWatch } from '../wire/negotiation.ts';
import { QueryValues } from '../wire/query-values.ts';
import { exactName } from './exact-name.ts';
import { encodingOf, namespaceOf, placeOf, turnOf } from './resource-request.ts';
import type { ResourceRequest } from './server-parts.ts';

/**
 * Minimum duration of watches without `timeoutSeconds`. As in upstream, a random time is added as jitter, so that watches do not all end at
 * once.
 */
const MIN_WATCH_SECONDS = 1800;

/** Responds with one object. */
export async function getOne(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served } = request;
  const format = negotiateObject(exchange);
  if (new QueryValues(exchange.query).flag('export') === true)
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  await served.reach(exchange.query.get('resourceVersion') ?? '', exchange.signal);
  await writer.object(200, served.get(placeOf(request)), encodingOf(request, format));
}

/** Responds with a list. */
export async function listMany(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served } = request;
  const encoding = encodingOf(request, negotiateObject(exchange));
  const page = await served.list(namespaceOf(request), selectionOf(request), exchange.signal);
  await writer.list(page, encoding);
}

/** Streams changes to a collection or a single object until the watch times out. */
export async function watchMany(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served, parts, resource } = request;
  const encoding = encodingOf(request, negotiateWatch(exchange));
  const options = selectionOf(request);
  const timeoutSeconds = options.timeoutSeconds || MIN_WATCH_SECONDS * (1 + Math.random());
  // ends the watch when the definition of the custom resource changes, because later events would follow a different schema
  const end = resource.isCustom ? parts.endOf?.(resource) : undefined;
  const until = end === undefined ? exchange.signal : AbortSignal.any([exchange.signal, end]);
  using signal = withTimeout(until, timeoutSeconds * 1000, 'watch');
  const events = served.watch({ namespace: namespaceOf(request), options: { ...options, timeoutSeconds }, signal });
  await writer.watch(events, { encoding, encoder: parts.encoder, signal });
}

type Selected = ListParameters & { turn: () => Promise<void> };

/** Returns the parameters that select the request's objects. Throws 400 or 422 for invalid parameters. */
export function selectionOf(request: ResourceRequest): Selected {
  const { exchange, info } = request;
  const { name, verb } = info;
  const options = { ...listParameters(exchange.query, { isWatch: verb === 'watch' }), turn: turnOf(request) };
  if (name === '') return options;
  if (options.fieldSelector !== '' && exactName(options.fieldSelector) !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  // the request was authorized for this name only, so the name is enforced regardless of how the registry parses the client's selector
  const fieldSelector = [`metadata.name=${escaped(name)}`, options.fieldSelector].filter(Boolean).join();
  return { ...options, fieldSelector };
}

const escaped = (value: string): string => value.replaceAll(/[\\,=]/g, String.raw`\$&`);
