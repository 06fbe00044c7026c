/** Rules shared by several kinds: status updates and resource amounts. */
import { roundUpToMilli } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import type { SubresourceStrategy } from '../strategy.ts';
import { objectAt, textEntriesAt, withValue } from '../values.ts';

/** Returns a status subresource. Updates keep the spec, but may change labels, annotations and finalizers. */
export const statusSubresource = (validateUpdate?: SubresourceStrategy['validateUpdate']): SubresourceStrategy => ({
  prepareForUpdate: (object, old) => withValue(object, ['spec'], old.spec),
  validateUpdate,
});

/** Keeps the status of `old` when the main resource is updated. */
export const withStatusOf = (object: ApiObject, old: ApiObject): ApiObject => withValue(object, ['status'], old.status);

/** Rounds resource amounts up to milli-units, like the API's defaults. */
export function withRoundedAmounts<T extends { [field: string]: unknown }>(object: T, path: readonly string[]): T {
  if (objectAt(object, ...path) === undefined) return object;
  const rounded = textEntriesAt(object, ...path).map(([name, amount]) => [name, roundUpToMilli(amount)]);
  return withValue(object, path, Object.fromEntries(rounded));
}

/** Returns the value of an annotation, or `undefined` if it is not set. */
export const annotationOf = ({ metadata }: ApiObject, name: string): string | undefined =>
  metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, name)
    ? metadata.annotations[name]
    : undefined;
