/** The `scale` subresource of workloads: reading and writing a Scale reads and updates the object. */

import { pageNotFound, type Registries, type RequestContext, type ScaleWrite } from '@podwright/api-machinery';
import type { ScaleStrategy } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { contextOf, encodingOf, placeOf } from '../server/resource-request.ts';
import type { ResourceRequest, SubresourceHandler } from '../server/server-parts.ts';
import { readObject, readPatchRequest } from '../server/write-requests.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { writeOptions } from '../wire/write-options.ts';

/** Returns the handler for a resource's scale. */
export function scaleHandler(
  registries: Registries,
  scaleOf: (resource: Resource) => ScaleStrategy | undefined,
): SubresourceHandler {
  return async (request) => {
    const scale = scaleOf(request.resource);
    if (scale === undefined) throw pageNotFound();
    const { exchange, writer, info, served } = request;
    const encoding = encodingOf(request, negotiateObject(exchange));
    const place = placeOf(request);
    if (info.verb === 'get') return writer.object(200, scale.scaleOf(served.get(place).decode()), encoding);
    const { write, context } = await scaleWrite(request);
    const registry = registries.for(request.resource);
    const { object } = await registry.changeScale(place, { strategy: scale, write }, context);
    await writer.object(200, scale.scaleOf(object), encoding);
  };
}

/** Reads the new Scale (update) or the patch (patch, apply) from the request body. */
async function scaleWrite(request: ResourceRequest): Promise<{ write: ScaleWrite; context: RequestContext }> {
  const { exchange, info } = request;
  if (info.verb === 'update') {
    const options = writeOptions('UpdateOptions', exchange.query);
    const scale = await readObject(request, options.fieldValidation);
    return { write: { scale }, context: contextOf(request, options) };
  }
  const { patch, options } = await readPatchRequest(request);
  return { write: { patch }, context: contextOf(request, options) };
}
