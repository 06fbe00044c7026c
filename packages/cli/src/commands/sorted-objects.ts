import { PodwrightError } from '@podwright/base';
import { isQuantity, parseQuantity } from '@podwright/kube-api';
import type { ApiObject } from '../client/object-client.ts';
import { valuesAt, valueText } from '../output/jsonpath.ts';
import { parsePath } from '../output/jsonpath-parser.ts';

/**
 * Sorts objects by the field at a JSONPath, like kubectl: objects without the field come first, and numbers and quantities are compared by
 * value. Unlike kubectl, which uses natural order, other strings are compared by code unit. Throws `invalid_argument` if the path is
 * invalid or no object has the field.
 */
export function sortedBy(objects: ApiObject[], path: string): ApiObject[] {
  const steps = parsePath(path);
  const keyed = objects.map((object) => ({ object, key: valuesAt(steps, object)[0] }));
  if (keyed.length > 0 && keyed.every(({ key }) => key === undefined))
    throw new PodwrightError('invalid_argument', `--sort-by ${path.slice(0, 80)}: none of the objects has this field`);
  return keyed.sort((a, b) => compare(a.key, b.key)).map(({ object }) => object);
}

function compare(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [valueText(a), valueText(b)];
  if (isQuantity(left) && isQuantity(right)) return order(parseQuantity(left).nanos, parseQuantity(right).nanos);
  return order(left, right);
}

const order = <T extends string | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
