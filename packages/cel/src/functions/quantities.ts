/** Quantity functions (apiserver, pkg/cel/library/quantity.go). */
import { formatQuantity, isQuantity, parseQuantity } from '@podwright/kube-api';
import { CelError, Opaque } from '../values/values.ts';
import { type FunctionTable, overload, traversalOf } from './overload.ts';

const NANOS = 1_000_000_000n;
const MAX_INT = 2n ** 63n - 1n;
const TYPE = 'kubernetes.Quantity';

/** A Kubernetes quantity. `like` determines the style of suffix used to format it. */
class QuantityValue extends Opaque {
  readonly typeName = TYPE;
  readonly nanos: bigint;
  /** A quantity string; the formatted value has the same style of suffix. */
  readonly like: string;

  constructor(nanos: bigint, like: string) {
    super();
    this.nanos = nanos;
    this.like = like;
  }

  equals(other: Opaque): boolean {
    return other instanceof QuantityValue && other.nanos === this.nanos;
  }

  override toString(): string {
    return formatQuantity(this.nanos, this.like);
  }
}

const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function quantity(text: string): QuantityValue {
  if (!isQuantity(text)) throw new CelError(FORM);
  return new QuantityValue(parseQuantity(text).nanos, text);
}

const isInteger = ({ nanos }: QuantityValue): boolean => nanos % NANOS === 0n && nanos / NANOS <= MAX_INT;

const plus = (one: QuantityValue, nanos: bigint): QuantityValue => new QuantityValue(one.nanos + nanos, one.like);

const compare = (one: QuantityValue, other: QuantityValue): bigint =>
  one.nanos < other.nanos ? -1n : one.nanos > other.nanos ? 1n : 0n;

export const QUANTITY_FUNCTIONS: FunctionTable = {
  quantity: [overload(`(string) -> ${TYPE}`, quantity, traversalOf())],
  isQuantity: [overload('(string) -> bool', (text: string) => isQuantity(text), traversalOf())],
  sign: [overload(`(${TYPE}) -> int`, ({ nanos }: QuantityValue) => (nanos > 0n ? 1n : nanos < 0n ? -1n : 0n))],
  asApproximateFloat: [overload(`${TYPE}.() -> double`, ({ nanos }: QuantityValue) => Number(nanos) / Number(NANOS))],
  asInteger: [
    overload(`${TYPE}.() -> int`, (value: QuantityValue) => {
      if (!isInteger(value)) throw new CelError('cannot convert value to integer');
      return value.nanos / NANOS;
    }),
  ],
  isInteger: [overload(`${TYPE}.() -> bool`, isInteger)],
  add: [
    overload(`${TYPE}.(${TYPE}) -> ${TYPE}`, (one: QuantityValue, other: QuantityValue) => plus(one, other.nanos)),
    overload(`${TYPE}.(int) -> ${TYPE}`, (one: QuantityValue, other: bigint) => plus(one, other * NANOS)),
  ],
  sub: [
    overload(`${TYPE}.(${TYPE}) -> ${TYPE}`, (one: QuantityValue, other: QuantityValue) => plus(one, -other.nanos)),
    overload(`${TYPE}.(int) -> ${TYPE}`, (one: QuantityValue, other: bigint) => plus(one, -other * NANOS)),
  ],
  isGreaterThan: [
    overload(`${TYPE}.(${TYPE}) -> bool`, (one: QuantityValue, other: QuantityValue) => compare(one, other) > 0n),
  ],
  isLessThan: [
    overload(`${TYPE}.(${TYPE}) -> bool`, (one: QuantityValue, other: QuantityValue) => compare(one, other) < 0n),
  ],
  compareTo: [overload(`${TYPE}.(${TYPE}) -> int`, compare)],
};
