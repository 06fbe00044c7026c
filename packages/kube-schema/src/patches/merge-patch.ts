/** JSON Merge Patch (RFC 7386). */
import { fieldOf, isJsonObject, type JsonObject, setField } from '../json.ts';
import { checkDepth } from './patch-error.ts';

/** Applies a merge patch to an object. Modifies neither. Throws `invalid_argument` if the patch is nested more than 1,000 levels deep. */
export function mergePatch(original: JsonObject, patch: JsonObject): JsonObject {
  checkDepth(patch);
  return merge(original, patch);
}

function merge(original: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...original };
  for (const [name, value] of Object.entries(patch)) {
    const before = fieldOf(result, name);
    if (value === null) delete result[name];
    else setField(result, name, isJsonObject(value) ? merge(isJsonObject(before) ? before : {}, value) : value);
  }
  return result;
}
