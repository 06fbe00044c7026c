/** The `scale` subresource of workloads: reads and writes of a Scale are reads and updates of the object. */

import {
  APPLY,
  applyPatch,
  checkName,
  invalid,
  type PatchRequest,
  pageNotFound,
  patchObject,
  type Registries,
} from '@podwright/api-machinery';
import { errorMessage, PodwrightError } from '@podwright/base';
import { type ApiObject, invalidValue, type ScaleStrategy } from '@podwright/kube-kinds';
import { decodeJson, type Resource, type Schema } from '@podwright/kube-schema';
import { contextOf, encodingOf, placeOf } from '../server/resource-request.ts';
import type { ResourceRequest, SubresourceHandler } from '../server/server-parts.ts';
import { readObject, readPatchRequest } from '../server/write-requests.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { writeOptions } from '../wire/write-options.ts';

const SCALE = { apiVersion: 'autoscaling/v1', kind: 'Scale' };

/** The handler for the scale of a resource. */
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
    const { computeScale, context } = await scaleWrite(request);
    const compute = (object: ApiObject) => {
      const written = computeScale(scale.scaleOf(object));
      checkName(written, info.name);
      const errors = scale.validate(written);
      if (errors.length > 0) throw invalid({ group: 'autoscaling', kind: 'Scale' }, info.name, errors);
      return scale.withScale(object, written);
    };
    const { object } = await registries.for(request.resource).change(place, compute, context);
    await writer.object(200, scale.scaleOf(object), encoding);
  };
}

/** The function that computes the new Scale from the present one. */
async function scaleWrite(request: ResourceRequest) {
  const { exchange, info, parts } = request;
  if (info.verb === 'update') {
    const options = writeOptions('UpdateOptions', exchange.query);
    const sent = await readObject(request, options.fieldValidation);
    return { computeScale: () => sent, context: contextOf(request, options) };
  }
  const { patch, options } = await readPatchRequest(request);
  const computeScale = (old: ApiObject) => patchedScale(parts.schema, old, patch);
  return { computeScale, context: contextOf(request, options) };
}

function patchedScale(schema: Schema, object: ApiObject, { mediaType, patch }: PatchRequest): ApiObject {
  const type = schema.kindOf(SCALE)!;
  const value =
    mediaType === APPLY
      ? { ...object, spec: patchObject(patch).spec }
      : applyPatch(mediaType, { object, patch, schema, type });
  try {
    return decodeJson(value, { schema, type }).object as ApiObject;
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    const problem = invalidValue('patch', JSON.stringify(value), errorMessage(error));
    throw invalid({ group: '', kind: '' }, '', [problem]);
  }
}
