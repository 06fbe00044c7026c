/** Compares the stored FlowSchemas and priority levels with those that every cluster has (kube-apiserver, registry/flowcontrol/ensurer). */
import { type ApiObject, isSameValue, objectAt, withValue } from '@podwright/kube-kinds';
import {
  AUTO_UPDATE,
  EXEMPT,
  type FlowObjects,
  mandatoryFlowObjects,
  suggestedFlowObjects,
} from './bootstrap-flows.ts';

/** The objects to create, update and remove, in the order in which the server does so. */
export type FlowChanges = { create: ApiObject[]; update: ApiObject[]; remove: ApiObject[] };

/**
 * Returns the changes to make to the stored objects. Missing objects are created. Changed specs are restored, except in suggested objects
 * that an administrator maintains, whose annotation is `false`. Objects with the annotation `true` that are unknown to this version are
 * removed: an earlier version created them.
 */
export function flowChanges(present: FlowObjects): FlowChanges {
  const mandatory = mandatoryFlowObjects();
  const suggested = suggestedFlowObjects();
  const changes: FlowChanges = { create: [], update: [], remove: [] };
  for (const which of ['levels', 'schemas'] as const) {
    const found = new Map(present[which].map((one) => [one.metadata.name ?? '', one]));
    const wanted = [
      ...suggested[which].map((object) => ({ object, isMandatory: false })),
      ...mandatory[which].map((object) => ({ object, isMandatory: true })),
    ];
    for (const { object, isMandatory } of wanted) {
      const { name = '' } = object.metadata;
      const current = found.get(name);
      found.delete(name);
      const revised = current === undefined ? undefined : revisedFlow(current, object, isMandatory);
      if (current === undefined) changes.create.push(object);
      else if (revised !== undefined) changes.update.push(revised);
    }
    for (const other of found.values()) if (mayUpdate(other) === true) changes.remove.push(other);
  }
  return changes;
}

/** Returns the stored object with the correct spec and annotation; undefined if it already has both. */
function revisedFlow(current: ApiObject, wanted: ApiObject, isMandatory: boolean): ApiObject | undefined {
  // without an annotation, the generation shows whether a user has changed the spec
  const updates = isMandatory || (mayUpdate(current) ?? current.metadata.generation === 1);
  const isSame = !updates || isSameSpec(current, wanted);
  if (isSame && mayUpdate(current) === updates) return undefined;
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE]: String(updates) };
  return { ...current, metadata: { ...current.metadata, annotations }, ...(isSame ? {} : { spec: wanted.spec }) };
}

/** Whether a spec needs no update. The `exempt` field of the priority level `exempt` may differ, because administrators may change it. */
function isSameSpec(current: ApiObject, wanted: ApiObject): boolean {
  const isExempt = wanted.metadata.name === EXEMPT && objectAt(current, 'spec', 'exempt') !== undefined;
  const compared = isExempt ? withValue(current, ['spec', 'exempt'], objectAt(wanted, 'spec', 'exempt')) : current;
  return isSameValue(compared.spec, wanted.spec);
}

/**
 * Returns the value of an object's `AUTO_UPDATE` annotation, as parsed by Go's `ParseBool`; undefined if the annotation is absent or
 * invalid.
 */
function mayUpdate({ metadata }: ApiObject): boolean | undefined {
  const value = metadata.annotations?.[AUTO_UPDATE] ?? '';
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value) ? false : undefined;
}
