import { type FieldError, invalidValue } from '../field-error.ts';
import { isSameValue, type JsonObject, objectAt, objectsAt, textAt, valueAt } from '../values.ts';

const RENAMED_LABELS: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);

/** A volume's node affinity can be set once. After that, only deprecated labels may be replaced with their successors. */
export function validateAffinityChange(field: string, affinity: unknown, old: unknown): FieldError[] {
  if (objectAt(old) === undefined || isSameAffinity(affinity, old)) return [];
  return [invalidValue(field, affinity, 'field is immutable, except for updating from beta label to GA')];
}

function isSameAffinity(affinity: unknown, old: unknown): boolean {
  const terms = objectsAt(affinity, 'required', 'nodeSelectorTerms');
  const oldTerms = objectsAt(old, 'required', 'nodeSelectorTerms');
  const hasSelector = valueAt(affinity, 'required') !== undefined;
  const hadSelector = valueAt(old, 'required') !== undefined;
  return hasSelector === hadSelector && isEachSame(terms, oldTerms, isSameTerm);
}

const isSameTerm = (term: JsonObject, old: JsonObject): boolean =>
  ['matchExpressions', 'matchFields'].every((name) =>
    isEachSame(objectsAt(term, name), objectsAt(old, name), isSameRequirement),
  );

function isSameRequirement(requirement: JsonObject, old: JsonObject): boolean {
  const key = textAt(requirement, 'key');
  const isRenamed = RENAMED_LABELS.get(textAt(old, 'key')) === key;
  return isSameValue(requirement, isRenamed ? { ...old, key } : old);
}

const isEachSame = <T>(items: readonly T[], old: readonly T[], isSame: (item: T, old: T) => boolean): boolean =>
  items.length === old.length && items.every((item, index) => isSame(item, old[index]!));
