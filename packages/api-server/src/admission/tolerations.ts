import { isSameValue, type JsonObject, numberAt, textAt } from '@podwright/kube-kinds';

/** Merges two lists of tolerations and drops those that another toleration covers. Of equal tolerations, only the first is retained. */
export function mergedTolerations(first: readonly JsonObject[], second: readonly JsonObject[]): JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  for (const [index, one] of all.entries()) {
    const isIncluded =
      merged.some((other) => includes(other, one)) ||
      all.slice(index + 1).some((other) => !isSameValue(other, one) && includes(other, one));
    if (!isIncluded) merged.push(one);
  }
  return merged;
}

/** Whether `wide` tolerates every taint that `narrow` tolerates. */
function includes(wide: JsonObject, narrow: JsonObject): boolean {
  if (isSameValue(wide, narrow)) return true;
  const [key, operator, effect] = ['key', 'operator', 'effect'].map((field) => textAt(wide, field));
  const isAnyKey = key === '' && operator === 'Exists';
  if (key !== textAt(narrow, 'key') && !isAnyKey) return false;
  if (effect !== '' && effect !== textAt(narrow, 'effect')) return false;
  const seconds = numberAt(wide, 'tolerationSeconds');
  if (effect === 'NoExecute' && seconds !== undefined) {
    const own = numberAt(narrow, 'tolerationSeconds');
    if (own === undefined || own > seconds) return false;
  }
  if (operator === 'Exists') return true;
  const isEqual = operator === 'Equal' || operator === '';
  return isEqual && textAt(narrow, 'operator') === 'Equal' && textAt(narrow, 'value') === textAt(wide, 'value');
}
