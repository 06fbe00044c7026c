/** Reads fields, list elements and map entries. */

import { textOf } from '../values/texts.ts';
import { CelError, CelList, CelMap, noOverload, Optional, typeName, Uint, type Value } from '../values/values.ts';

/** Returns cel-go's error for a missing map key or field. */
export const noKey = (key: Value): CelError => new CelError(`no such key: ${shown(key)}`);

const shown = (key: Value): string => (key instanceof Uint ? String(key.value) : (textOf(key) ?? typeName(key)));

/** Returns a list element or map entry. Throws `CelError` if it does not exist. For an optional operand, returns an optional. */
export function access(operand: Value, key: Value): Value {
  if (operand instanceof Optional) return accessOptional(operand, key);
  const found = find(operand, key);
  if (found !== undefined) return found;
  throw operand instanceof CelList ? new CelError(`index out of bounds: ${shown(key)}`) : noKey(key);
}

/** Returns a list element or map entry as an optional value, which is empty if it does not exist. */
export function accessOptional(operand: Value, key: Value): Optional {
  const inner = operand instanceof Optional ? operand.value : operand;
  if (inner === undefined) return new Optional();
  return new Optional(find(inner, key));
}

/** Whether an object has this field; false for an optional without a value. Throws `CelError` if the operand has no fields. */
export function hasField(operand: Value, field: string): boolean {
  const inner = operand instanceof Optional ? operand.value : operand;
  if (inner === undefined) return false;
  if (!(inner instanceof CelMap)) throw noKey(field);
  return inner.get(field) !== undefined;
}

function find(operand: Value, key: Value): Value | undefined {
  if (operand instanceof CelMap) return operand.get(key);
  if (!(operand instanceof CelList)) {
    if (typeof key === 'string' || typeof key === 'bigint') throw noKey(key);
    throw noOverload();
  }
  const index = key instanceof Uint ? Number(key.value) : Number(key);
  const isIndex = typeof key === 'bigint' || key instanceof Uint || (typeof key === 'number' && Number.isInteger(key));
  if (!isIndex) throw new CelError(`unsupported index type '${typeName(key)}' in list`);
  return index >= 0 && index < operand.size ? operand.at(index) : undefined;
}
