/** Writes to an object's `scale` subresource: updating, patching or applying a Scale changes the object's number of replicas. */
import type { ApiObject, ScaleStrategy } from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';
import { withManagedFields } from '../managed-fields/object-fields.ts';
import { ownersAfterScale, ownersOfScale } from '../managed-fields/scale-owners.ts';
import { ownersForApply } from '../managed-fields/stored-owners.ts';
import type { RequestContext } from '../request-context.ts';
import { conflict, invalid } from '../status/api-error.ts';
import { APPLY } from './apply-patch.ts';
import { checkName, inNamespace } from './names.ts';
import { applied, type PatchRequest, patched } from './patched-object.ts';
import type { ResourceParts } from './resource-parts.ts';
import { mutated, tracked } from './tracked-object.ts';
import { changeObject, type Place, type Written } from './update-object.ts';

/** A write to a Scale: either the complete new Scale, already decoded, or a patch. */
export type ScaleWrite = { scale: ApiObject } | { patch: PatchRequest };

export type ScaleParts = {
  schema: Schema;
  /** Dependencies for patching Scale objects and tracking their field owners. */
  scales: ResourceParts;
  strategy: ScaleStrategy;
};

/** Sets an object's number of replicas to that of the written Scale. Returns the object. Throws `ApiError`. */
export function changeScale(
  parts: ResourceParts,
  { write, namespace, name, ...scaling }: Place & ScaleParts & { write: ScaleWrite },
  context: RequestContext,
): Promise<Written> {
  const { kind } = parts;
  // mutating admission gets the Scale unchanged: unlike for other writes to this resource, the written object is already a Scale
  const admission = { ...context, admittedPart: (object: ApiObject) => object };
  const compute = async (old: ApiObject | undefined) => {
    const object = kind.fromStored(old!);
    const { strategy } = scaling;
    const owners = ownersForApply(object);
    const live = withManagedFields(strategy.scaleOf(object), ownersOfScale(owners, strategy.replicasPaths));
    const scale = inNamespace(kind, newScale(scaling, { write, live }, context), namespace);
    checkName(scale, name);
    const admitted = await mutated(parts, { object: scale, old: live }, admission);
    checkScale(parts, { strategy, scale: admitted, object });
    const ownership = { owners, scale: ownersForApply(admitted), apiVersion: kind.apiVersion };
    const scaled = withManagedFields(
      strategy.withScale(object, admitted),
      ownersAfterScale(ownership, strategy.replicasPaths),
    );
    return kind.complete(scaled);
  };
  // validating admission gets two Scales: those of the new and of the stored object
  const validation = {
    ...context,
    admittedPart: (object: ApiObject) => scaling.strategy.scaleOf(kind.fromStored(object)),
  };
  return changeObject(parts, { namespace, name, compute, allowCreate: false }, validation);
}

function newScale(
  { schema, scales }: ScaleParts,
  { write, live: old }: { write: ScaleWrite; live: ApiObject },
  context: RequestContext,
): ApiObject {
  if ('scale' in write) return tracked(scales, { object: write.scale, old }, context);
  const { patch: request } = write;
  if (request.mediaType === APPLY) return applied(scales, { request, old }, context);
  return patched(scales, { request, schema, old }, context);
}

function checkScale(
  { kind: { resource } }: ResourceParts,
  { strategy, scale, object }: { strategy: ScaleStrategy; scale: ApiObject; object: ApiObject },
): void {
  const { name = '', uid } = object.metadata;
  const errors = strategy.validate(scale);
  if (errors.length > 0) throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, errors);
  if (!scale.metadata.uid || scale.metadata.uid === uid) return;
  const cause = `Precondition failed: UID in precondition: ${scale.metadata.uid}, UID in object meta: ${uid}`;
  throw conflict({ group: resource.group, plural: `${resource.plural}/scale` }, name, cause);
}

/** The `scales` resource, which stands for the kind Scale in requests and errors. Scale objects are never stored. */
export const SCALE_RESOURCE: Resource = {
  ...{ group: 'autoscaling', version: 'v1', kind: 'Scale', plural: 'scales', singular: 'scale' },
  ...{ namespaced: true, verbs: [] },
};
