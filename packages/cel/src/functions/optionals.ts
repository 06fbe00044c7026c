/** Functions for optional values (cel-go, cel/library.go). */
import { CelError, CelList, CelMap, Duration, Optional, Uint, type Value, ValueList } from '../values/values.ts';
import { type FunctionTable, notCalled, overload } from './overload.ts';

export const OPTIONAL_FUNCTIONS: FunctionTable = {
  'optional.of': [overload('(V) -> optional_type(V)', (value: Value) => new Optional(value))],
  'optional.ofNonZeroValue': [
    overload('(V) -> optional_type(V)', (value: Value) => (isZero(value) ? new Optional() : new Optional(value))),
  ],
  'optional.none': [overload('() -> optional_type(V)', () => new Optional())],
  value: [
    overload('optional_type(V).() -> V', ({ value }: Optional) => {
      if (value === undefined) throw new CelError('optional.none() dereference');
      return value;
    }),
  ],
  hasValue: [overload('optional_type(V).() -> bool', ({ value }: Optional) => value !== undefined)],
  or: [overload('optional_type(V).(optional_type(V)) -> optional_type(V)', notCalled)],
  orValue: [overload('optional_type(V).(V) -> V', notCalled)],
  'optional.unwrap': [overload('(list(optional_type(V))) -> list(V)', unwrapped)],
  unwrapOpt: [overload('list(optional_type(V)).() -> list(V)', unwrapped)],
};

function isZero(value: Value): boolean {
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanoseconds === 0n;
  if (value instanceof Optional) return value.value === undefined || isZero(value.value);
  return value === null || value === false || value === 0n || value === 0 || value === '';
}

function unwrapped(list: CelList): CelList {
  const found: Value[] = [];
  for (const one of list) {
    if (!(one instanceof Optional)) throw new CelError('value is not optional');
    if (one.value !== undefined) found.push(one.value);
  }
  return new ValueList(found);
}
