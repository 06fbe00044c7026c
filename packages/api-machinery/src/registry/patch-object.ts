import type { ApiObject } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import { conflict } from '../status/api-error.ts';
import { APPLY } from './apply-patch.ts';
import { checkName, inNamespace } from './names.ts';
import { applied, type Patching, patched } from './patched-object.ts';
import type { ResourceParts } from './resource-parts.ts';
import { mutated } from './tracked-object.ts';
import { changeObject, type Place, type Written } from './update-object.ts';

/** Patches an object. An apply creates the object if it does not exist. Throws `ApiError`. */
export function patchObjectAt(
  parts: ResourceParts,
  { namespace, name, request, schema }: Place & Patching,
  context: RequestContext,
): Promise<Written> {
  const isApply = request.mediaType === APPLY;
  const compute = async (old: ApiObject | undefined) => {
    const result =
      isApply || old === undefined
        ? applied(parts, { request, old }, context)
        : patched(parts, { request, schema, old }, context);
    if (old === undefined && result.metadata.uid)
      throw conflict(
        parts.kind.resource,
        name,
        `uid mismatch: the provided object specified uid ${result.metadata.uid}, and no existing object was found`,
      );
    const object = inNamespace(parts.kind, result, namespace);
    checkName(object, name);
    return mutated(parts, { object, old }, context);
  };
  return changeObject(parts, { namespace, name, compute, allowCreate: isApply }, context);
}
