import { deletionAnswer } from '@podwright/api-machinery';
import { type DeleteOptions, deleteOptions } from '../wire/delete-options.ts';
import { headerOf } from '../wire/http-exchange.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { sentBody } from '../wire/sent-body.ts';
import { selectionOf } from './read-requests.ts';
import { contextOf, encodingOf, namespaceOf, placeOf } from './resource-request.ts';
import type { ResourceRequest } from './server-parts.ts';

/** Deletes an object. */
export async function deleteOne(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served, resource } = request;
  const format = negotiateObject(exchange);
  const options = await readOptions(request);
  const deleted = await served.delete(placeOf(request), options, contextOf(request, options, sentOptions(options)));
  const code = !deleted.removed && options.orphanDependents === false ? 202 : 200;
  const answer = deletionAnswer(resource, deleted);
  if (answer.kind === 'Status') return writer.status(code, answer);
  await writer.object(code, deleted.object, encodingOf(request, format));
}

/** Deletes the selected objects of a collection, and responds with a list of them. */
export async function deleteCollection(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served } = request;
  const format = negotiateObject(exchange);
  const selection = { namespace: namespaceOf(request), list: selectionOf(request) };
  const options = await readOptions(request);
  const page = await served.deleteCollection(selection, options, contextOf(request, options, sentOptions(options)));
  await writer.list(page, encodingOf(request, format));
}

/** Returns the options sent by the client, in the form of a DeleteOptions object. */
function sentOptions({ dryRun, ...options }: DeleteOptions): object {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(dryRun && { dryRun: ['All'] }) };
}

async function readOptions({ exchange, parts }: ResourceRequest): Promise<DeleteOptions> {
  const body = await sentBody(exchange);
  const contentType = headerOf(exchange.request, 'content-type');
  const options = deleteOptions(body, { contentType, query: exchange.query, schema: parts.schema });
  if (exchange.bodies !== undefined) exchange.bodies.request = { kind: 'DeleteOptions', apiVersion: 'v1', ...options };
  return options;
}
