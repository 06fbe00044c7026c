/** Maps ownership of an object's replicas field to its Scale and back (apimachinery, util/managedfields, ScaleHandler). */
import type { ScaleStrategy } from '@podwright/kube-kinds';
import { type FieldSet, parseFieldsV1 } from '@podwright/kube-schema';
import { identifierOf, type Owner, type Owners } from './owners.ts';

type ReplicasPaths = ScaleStrategy['replicasPaths'];

const SCALE_VERSION = 'autoscaling/v1';

const REPLICAS_OF_SCALE = fieldAt(['spec', 'replicas']);

/** Returns the owners of the object's replicas field as owners of `spec.replicas` in its Scale. */
export function ownersOfScale(owners: Owners, paths: ReplicasPaths): Owners {
  const owning = [...owners.values()].filter((owner) => ownsReplicas(owner, paths));
  return byIdentifier(owning.map((owner) => ({ ...owner, apiVersion: SCALE_VERSION, fields: REPLICAS_OF_SCALE })));
}

/**
 * Returns the owners of an object after its Scale was written. `scale`: the owners of the Scale. They own the replicas field; all other
 * owners lose it. Owners in unknown API versions are removed. As in upstream, an owner has no time if it did not own the field before.
 */
export function ownersAfterScale(
  { owners, scale, apiVersion }: { owners: Owners; scale: Owners; apiVersion: string },
  paths: ReplicasPaths,
): Owners {
  const scaling = new Map([...scale].filter(([, { fields }]) => isOverlapping(fields, REPLICAS_OF_SCALE)));
  const kept: Owner[] = [];
  for (const [identifier, owner] of owners) {
    if (!Object.hasOwn(paths, owner.apiVersion)) continue;
    const isKept = !ownsReplicas(owner, paths) || scaling.delete(identifier);
    const fields = isKept ? owner.fields : owner.fields.difference(fieldAt(paths[owner.apiVersion]!));
    if (!fields.isEmpty) kept.push({ ...owner, fields });
  }
  const fields = fieldAt(paths[apiVersion] ?? []);
  const added = [...scaling].map(([identifier, { time: _, ...owner }]): Owner => {
    const { time } = owners.get(identifier) ?? {};
    return { ...owner, apiVersion, fields, ...(time === undefined ? {} : { time }) };
  });
  return byIdentifier([...kept, ...added]);
}

function ownsReplicas({ apiVersion, fields }: Owner, paths: ReplicasPaths): boolean {
  const path = Object.hasOwn(paths, apiVersion) ? paths[apiVersion] : null;
  return path !== null && path !== undefined && isOverlapping(fields, fieldAt(path));
}

const isOverlapping = (one: FieldSet, other: FieldSet): boolean => !one.intersection(other).isEmpty;

/**
 * Merges owners with the same identifier. Upstream keeps two entries for a manager that updated the object and then its Scale, and loses
 * one of them at the next write.
 */
function byIdentifier(owners: readonly Owner[]): Owners {
  const result = new Map<string, Owner>();
  for (const owner of owners) {
    const identifier = identifierOf(owner);
    const same = result.get(identifier);
    result.set(identifier, same === undefined ? owner : { ...same, fields: same.fields.union(owner.fields) });
  }
  return result;
}

function fieldAt(path: readonly string[]): FieldSet {
  return parseFieldsV1(path.reduceRight((below, name) => ({ [`f:${name}`]: below }), {}));
}
