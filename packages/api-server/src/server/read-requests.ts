import { withTimeout } from '@podwright/base';
import { badRequest } from '../status/api-error.ts';
import { type ListParameters, listParameters } from '../wire/list-options.ts';
import { negotiateObject, negotiateWatch } from '../wire/negotiation.ts';
import { QueryValues } from '../wire/query-values.ts';
import { sendWatch } from '../wire/watch-response.ts';
import { exactName } from './exact-name.ts';
import { encodingOf, namespaceOf, placeOf } from './resource-request.ts';
import type { ResourceRequest } from './server-parts.ts';

/** The shortest time of a watch that names none. Like upstream, the server adds a random part, so that watches do not all end at once. */
const MIN_WATCH_SECONDS = 1800;

/** Responds with one object. */
export async function getOne(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served } = request;
  const format = negotiateObject(exchange);
  if (new QueryValues(exchange.query).flag('export') === true)
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  await writer.object(200, served.get(placeOf(request)), encodingOf(request, format));
}

/** Responds with a list. */
export async function listMany(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served } = request;
  const encoding = encodingOf(request, negotiateObject(exchange));
  const page = await served.list(namespaceOf(request), selectionOf(request), exchange.signal);
  await writer.list(page, encoding);
}

/** Sends the changes of a collection or of one object until the watch's time is over. */
export async function watchMany(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served, parts } = request;
  const encoding = encodingOf(request, negotiateWatch(exchange));
  const options = selectionOf(request);
  const timeoutSeconds = options.timeoutSeconds || MIN_WATCH_SECONDS * (1 + Math.random());
  using signal = withTimeout(exchange.signal, timeoutSeconds * 1000, 'watch');
  const events = served.watch({ namespace: namespaceOf(request), options: { ...options, timeoutSeconds }, signal });
  await sendWatch(events, { writer, encoding, encoder: parts.encoder, signal });
}

/** The objects that a request selects. Throws 400 and 422 for wrong parameters. */
export function selectionOf({ exchange, info: { name, verb } }: ResourceRequest): ListParameters {
  const options = listParameters(exchange.query, { isWatch: verb === 'watch' });
  if (name === '') return options;
  if (options.fieldSelector !== '' && exactName(options.fieldSelector) !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  // the request was authorized for this name only, whatever the registry reads in the selector
  const fieldSelector = [`metadata.name=${escaped(name)}`, options.fieldSelector].filter(Boolean).join();
  return { ...options, fieldSelector };
}

const escaped = (value: string): string => value.replaceAll(/[\\,=]/g, String.raw`\$&`);
