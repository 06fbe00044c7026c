/** Computes the object that results from a patch. It is decoded and in the storage version, and has defaults and managed fields. */
import { errorMessage, PodwrightError } from '@podwright/base';
import { type ApiObject, invalidValue } from '@podwright/kube-kinds';
import { formatGoValue, type JsonObject, type Schema, strictDecodingMessage } from '@podwright/kube-schema';
import type { RequestContext } from '../request-context.ts';
import { ApiError, formatKind, invalid } from '../status/api-error.ts';
import { type APPLY, applyPatch, type PatchMediaType, patchObject } from './apply-patch.ts';
import { checkPatchedKind, withOwnKind } from './patched-kind.ts';
import type { ResourceParts } from './resource-parts.ts';
import { tracked } from './tracked-object.ts';

export type PatchRequest = {
  mediaType: PatchMediaType;
  /** The parsed patch: JSON, or YAML for an apply. */
  patch: unknown;
  /** Whether an apply takes ownership of fields owned by other managers. */
  force?: boolean;
  /** How to handle unknown fields. Default: `Ignore`. */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** Problems found while parsing the patch, such as duplicate fields. Problems of an apply configuration have already been reported. */
  problems?: readonly string[];
};

export type Patching = { request: PatchRequest; schema: Schema };

/** Applies a JSON, merge or strategic merge patch to the stored object. Throws `ApiError`. */
export function patched(
  parts: ResourceParts,
  { request, schema, old }: Patching & { old: ApiObject },
  context: RequestContext,
): ApiObject {
  const { kind } = parts;
  const { patch } = request;
  const mediaType = request.mediaType as Exclude<PatchMediaType, typeof APPLY>;
  const live = kind.fromStored(old);
  const value = applyPatch(mediaType, { object: live, patch, schema, type: kind.type });
  const isStrategic = mediaType === 'application/strategic-merge-patch+json';
  const shown = () => (isStrategic ? formatGoValue(patch) : JSON.stringify(value));
  const refusal = (message: string) => invalidPatch(shown(), message);
  if (!isStrategic) checkPatchedKind(parts.kind, value, { schema, name: old.metadata.name ?? '', refusal });
  const decoded = decodedPatch(parts, withOwnKind(parts.kind, value), {
    source: isStrategic ? 'map' : 'json',
    live,
    refusal,
  });
  const problem = kind.conversionProblem(decoded.object);
  // upstream converts the result of a strategic merge patch outside its decoder and therefore reports a different error
  if (problem !== undefined) throw isStrategic ? unknownError(problem) : refusal(problem);
  report([...(request.problems ?? []), ...decoded.problems], { request, refusal, context });
  return tracked(parts, { object: kind.complete(decoded.object), old }, context);
}

/** Prefix of the error message for an applied configuration of the wrong type. */
const IN_YAML = 'error decoding YAML: error unmarshaling JSON: while decoding JSON: ';

/** Applies a configuration to the stored object, or creates an object from it. Throws `ApiError`. */
export function applied(
  { kind, fieldManager }: ResourceParts,
  { request, old }: { request: PatchRequest; old: ApiObject | undefined },
  { subresource = '', fieldManager: manager = '', nowMs }: RequestContext,
): ApiObject {
  const { patch, force = false } = request;
  const live = old && kind.fromStored(old);
  const merged = fieldManager(subresource).apply(live, patchObject(patch, IN_YAML), { manager, nowMs, force });
  const { object } = kind.decode(merged);
  const problem = kind.conversionProblem(object);
  const { namespace = '', name = '' } = object.metadata;
  const shown = `${namespace}/${name}; ${formatKind(kind.resource)}`;
  if (problem !== undefined) throw unknownError(`failed to convert to unversioned (${shown}): ${problem}`);
  return kind.complete(object);
}

/** Returns a 500 error without a reason, for failures that upstream does not convert to a specific API error. */
const unknownError = (message: string): ApiError => new ApiError(500, '', { message });

type Decoded = { object: ApiObject; problems: string[] };

function decodedPatch(
  { kind }: ResourceParts,
  value: JsonObject,
  { source, live, refusal }: { source: 'json' | 'map'; live: ApiObject; refusal: (message: string) => ApiError },
): Decoded {
  try {
    const { object, problems } = kind.decode(value, { source, decoded: live });
    return { object: isEmptied(value) ? withNoEntries(object) : object, problems };
  } catch (error) {
    throw error instanceof PodwrightError ? refusal(errorMessage(error)) : error;
  }
}

type Reporting = { request: PatchRequest; refusal: (message: string) => ApiError; context: RequestContext };

/** Reports unknown and duplicate fields as requested by `fieldValidation`. */
function report(problems: readonly string[], { request, refusal, context }: Reporting): void {
  if (problems.length === 0) return;
  if (request.fieldValidation === 'Strict') throw refusal(strictDecodingMessage(problems));
  if (request.fieldValidation === 'Warn') for (const problem of problems) context.warn(problem);
}

const invalidPatch = (shown: string, message: string): ApiError =>
  invalid({ group: '', kind: '' }, '', [invalidValue('patch', shown, message)]);

/**
 * Whether the object has an empty `managedFields` list, which requests removal of all managed fields. Must be checked before decoding,
 * which drops empty lists.
 */
const isEmptied = ({ metadata }: JsonObject): boolean => {
  const { managedFields } = (metadata ?? {}) as { managedFields?: unknown };
  return Array.isArray(managedFields) && managedFields.length === 0;
};

const withNoEntries = (object: ApiObject): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields: [] },
});
