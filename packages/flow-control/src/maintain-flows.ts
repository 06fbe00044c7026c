/** Decides how the objects of a server differ from those of a new cluster (kube-apiserver, registry/flowcontrol/ensurer). */
import { type ApiObject, isSameValue, objectAt, withValue } from '@podwright/kube-kinds';
import { AUTO_UPDATE, EXEMPT, type Flows, mandatoryFlows, suggestedFlows } from './bootstrap-flows.ts';

export type FlowChanges = { create: ApiObject[]; update: ApiObject[]; remove: ApiObject[] };

/**
 * Returns the changes that a server makes. Missing objects are created. Changed objects get their specification again, unless they are only
 * suggested and an administrator has taken them over. Objects that an earlier version had created are removed.
 */
export function flowChanges(present: Flows): FlowChanges {
  const mandatory = mandatoryFlows();
  const suggested = suggestedFlows();
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

/** Returns the object as it must be; undefined if it is so. */
function revisedFlow(current: ApiObject, wanted: ApiObject, isMandatory: boolean): ApiObject | undefined {
  // without the annotation, an object with an unchanged specification is updated
  const updates = isMandatory || (mayUpdate(current) ?? current.metadata.generation === 1);
  const isSame = !updates || isSameSpec(current, wanted);
  if (isSame && mayUpdate(current) === updates) return undefined;
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE]: String(updates) };
  return { ...current, metadata: { ...current.metadata, annotations }, ...(isSame ? {} : { spec: wanted.spec }) };
}

/** Whether a specification needs no update. `exempt` of the level of that name may differ, because administrators may change it. */
function isSameSpec(current: ApiObject, wanted: ApiObject): boolean {
  const isExempt = wanted.metadata.name === EXEMPT && objectAt(current, 'spec', 'exempt') !== undefined;
  const compared = isExempt ? withValue(current, ['spec', 'exempt'], objectAt(wanted, 'spec', 'exempt')) : current;
  return isSameValue(compared.spec, wanted.spec);
}

/** Returns what the annotation says; undefined if it says nothing. Its values are those of Go's `ParseBool`. */
function mayUpdate({ metadata }: ApiObject): boolean | undefined {
  const value = metadata.annotations?.[AUTO_UPDATE] ?? '';
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value) ? false : undefined;
}
