import type { PatchRequest, Written } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { bodyMediaType, decodeBody } from '../wire/decode-body.ts';
import type { FieldValidation } from '../wire/field-validation.ts';
import { headerOf } from '../wire/http-exchange.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { patchMediaType, readPatch } from '../wire/read-patch.ts';
import { sentBody } from '../wire/sent-body.ts';
import { patchOptions, type WriteOptions, writeOptions } from '../wire/write-options.ts';
import { contextOf, encodingOf, kindOf, namespaceOf, placeOf } from './resource-request.ts';
import type { ResourceRequest } from './server-parts.ts';

/** Creates the object in the request body. */
export async function createOne(request: ResourceRequest): Promise<void> {
  const { exchange, writer, served } = request;
  const format = negotiateObject(exchange);
  const options = writeOptions('CreateOptions', exchange.query);
  const object = await readObject(request, options.fieldValidation);
  const created = await served.create(namespaceOf(request), object, contextOf(request, options));
  await writer.object(201, created, encodingOf(request, format));
}

/** Replaces an object with the one in the request body. */
export async function updateOne(request: ResourceRequest): Promise<void> {
  const { exchange, served } = request;
  negotiateObject(exchange);
  const options = writeOptions('UpdateOptions', exchange.query);
  const object = await readObject(request, options.fieldValidation);
  const context = contextOf(request, options);
  await sendWritten(request, await served.update(placeOf(request), object, context));
}

/** Patches an object, or applies a configuration. */
export async function patchOne(request: ResourceRequest): Promise<void> {
  const { patch, options } = await readPatchRequest(request);
  await takeTurn(request);
  await sendWritten(request, await request.served.patch(placeOf(request), patch, contextOf(request, options)));
}

/**
 * If the stored object is large, waits until the request may be processed, as a request with a large body does: even a small patch to a
 * large object takes as much time.
 */
async function takeTurn(request: ResourceRequest): Promise<void> {
  const { largeBody, signal } = request.exchange;
  await largeBody?.turnFor(storedBytes(request), signal);
}

/** Returns the size of the stored object in bytes; 0 if it does not exist. */
function storedBytes(request: ResourceRequest): number {
  try {
    return request.served.get(placeOf(request)).bytes.length;
  } catch {
    return 0; // a patch that applies a configuration creates the object; others report the error
  }
}

/** Reads the patch in the body, and the options in the query. */
export async function readPatchRequest(
  request: ResourceRequest,
): Promise<{ patch: PatchRequest; options: WriteOptions }> {
  const { exchange, writer } = request;
  const mediaType = patchMediaType(headerOf(exchange.request, 'content-type'), exchange.isCustom);
  negotiateObject(exchange);
  const body = await sentBody(exchange);
  const { force, ...options } = patchOptions(exchange.query, mediaType);
  const { fieldValidation } = options;
  const read = readPatch(body, mediaType, { fieldValidation, warn: writer.warnings.add });
  observe(request, read.patch);
  return { patch: { ...read, force, fieldValidation }, options };
}

async function sendWritten(request: ResourceRequest, { object, created }: Written): Promise<void> {
  const { exchange, writer } = request;
  const format = negotiateObject(exchange);
  await writer.object(created ? 201 : 200, object, encodingOf(request, format));
}

/** Decodes the request body, which must contain an object of the request's kind. */
export async function readObject(request: ResourceRequest, fieldValidation: FieldValidation): Promise<ApiObject> {
  const { exchange, writer, parts } = request;
  const mediaType = bodyMediaType(headerOf(exchange.request, 'content-type'), exchange.isCustom);
  const body = await sentBody(exchange);
  const { schema } = parts;
  const reading = { schema, expected: kindOf(request), fieldValidation, warn: writer.warnings.add };
  const object = decodeBody(body, mediaType, reading);
  observe(request, object);
  return object;
}

function observe({ exchange: { bodies } }: ResourceRequest, sent: unknown): void {
  if (bodies !== undefined && typeof sent === 'object' && sent !== null) bodies.request = sent;
}
