/** Patches of the API server, with its errors. */
import { errorCode, errorMessage } from '@podwright/base';
import { jsonPatch, mergePatch, Schema, strategicMerge } from '@podwright/kube-schema';
import { type ApiObject, isObject, type JsonObject } from './json.ts';
import type { ResourceKind } from './resource-kinds.ts';
import { ApiError, badRequest, internalError, unsupportedMediaType } from './status-error.ts';

const schema = await Schema.load();

type Patch = { kind: ResourceKind; old: ApiObject; patch: unknown };

const PATCHES: Record<string, (patch: Patch) => JsonObject> = {
  'application/json-patch+json': ({ old, patch }) => jsonPatch(old, patch),
  'application/merge-patch+json': ({ old, patch }) => mergePatch(old, patchObject(patch)),
  'application/strategic-merge-patch+json': ({ kind, old, patch }) =>
    strategicMerge(old, patchObject(patch), { schema, type: schema.kind(kind)! }),
};

/** The object after a patch of a media type. Unknown fields remain, as on a server of a newer version. */
export function applyPatch(mediaType: string, patch: Patch): ApiObject {
  const apply = PATCHES[mediaType];
  if (apply === undefined) throw unsupportedMediaType(mediaType, Object.keys(PATCHES));
  try {
    return apply(patch) as ApiObject;
  } catch (error) {
    throw error instanceof ApiError ? error : asApiError(error);
  }
}

function patchObject(patch: unknown): JsonObject {
  if (!isObject(patch)) throw badRequest('the patch is not an object');
  return patch;
}

function asApiError(error: unknown): ApiError {
  const message = errorMessage(error);
  switch (errorCode(error)) {
    case 'invalid_argument':
      return badRequest(message);
    case 'failed_precondition':
      return new ApiError(422, 'Invalid', { message });
    case 'resource_exhausted':
      return new ApiError(413, 'RequestEntityTooLarge', { message });
    default:
      return internalError(message);
  }
}
