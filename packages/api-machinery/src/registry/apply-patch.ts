/** Applies patches to JSON objects and converts failures to API errors. */
import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import {
  type JsonObject,
  jsonPatch,
  mergePatch,
  type Schema,
  type StructType,
  strategicMerge,
} from '@podwright/kube-schema';
import { ApiError, badRequest } from '../status/api-error.ts';

export const APPLY = 'application/apply-patch+yaml';

/** The media type of a patch, without parameters. */
export type PatchMediaType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | typeof APPLY;

type Patching = { object: JsonObject; patch: unknown; schema: Schema; type: StructType };

const PATCHES: Readonly<Record<Exclude<PatchMediaType, typeof APPLY>, (patching: Patching) => JsonObject>> = {
  'application/json-patch+json': ({ object, patch }) => jsonPatch(object, operationsOf(patch)),
  'application/merge-patch+json': ({ object, patch }) => mergePatch(object, mergedObject(patch)),
  'application/strategic-merge-patch+json': ({ object, patch, schema, type }) =>
    strategicMerge(object, patchObject(patch ?? {}), { schema, type }),
};

/** Applies any patch except an apply patch, and returns the patched object. Throws `ApiError`. */
export function applyPatch(mediaType: keyof typeof PATCHES, patching: Patching): JsonObject {
  try {
    return PATCHES[mediaType](patching);
  } catch (error) {
    throw error instanceof PodwrightError ? patchAnswer(error) : error;
  }
}

/** Checks that a patch is a JSON object. `prefix`: starts the error message. */
export function patchObject(patch: unknown, prefix = ''): JsonObject {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch))
    throw badRequest(
      `${prefix}json: cannot unmarshal ${goTypeOf(patch)} into Go value of type map[string]interface {}`,
    );
  return patch as JsonObject;
}

function mergedObject(patch: unknown): JsonObject {
  if (patch === null) throw badRequest('Invalid JSON Patch'); // from upstream's library for patches
  return patchObject(patch, 'error decoding patch: ');
}

/** Returns the operations of a JSON patch. Treats `null` as an empty patch, as in Go. */
function operationsOf(patch: unknown): unknown[] {
  if (Array.isArray(patch) || patch === null) return patch ?? [];
  const type = goTypeOf(patch);
  throw badRequest(`error decoding patch: json: cannot unmarshal ${type} into Go value of type []handlers.jsonPatchOp`);
}

const goTypeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value;

/** The message for a JSON patch with a failed operation. Like upstream, it does not say which one failed. */
const REJECTED = 'the server rejected our request due to an error in our request';

function patchAnswer(error: PodwrightError): ApiError {
  const message = errorMessage(error);
  switch (errorCode(error)) {
    case 'invalid_argument':
      return badRequest(message);
    case 'failed_precondition':
      return new ApiError(422, 'Invalid', { message: REJECTED, details: {} });
    case 'resource_exhausted':
      return new ApiError(413, 'RequestEntityTooLarge', { message: `Request entity too large: ${message}` });
    default:
      return new ApiError(500, '', { message });
  }
}
