/** Rules that several kinds have in common: status updates, and amounts of resources. */
import { roundUpToMilli } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import type { SubresourceStrategy } from '../strategy.ts';
import { objectAt, textEntriesAt, withValue } from '../values.ts';

/** A status subresource: updates retain the spec. Clients may change labels, annotations and finalizers as well. */
export const statusSubresource = (validateUpdate?: SubresourceStrategy['validateUpdate']): SubresourceStrategy => ({
  prepareForUpdate: (object, old) => withValue(object, ['spec'], old.spec),
  validateUpdate,
});

/** Retains the status of `old` in an update of the main resource. */
export const withStatusOf = (object: ApiObject, old: ApiObject): ApiObject => withValue(object, ['status'], old.status);

/** Rounds amounts of resources up to thousandths, as the API's defaults do. */
export function withRoundedAmounts<T extends { [field: string]: unknown }>(object: T, path: readonly string[]): T {
  if (objectAt(object, ...path) === undefined) return object;
  const rounded = textEntriesAt(object, ...path).map(([name, amount]) => [name, roundUpToMilli(amount)]);
  return withValue(object, path, Object.fromEntries(rounded));
}

/** The value of an annotation; undefined if it is absent. */
export const annotationOf = ({ metadata }: ApiObject, name: string): string | undefined =>
  metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, name)
    ? metadata.annotations[name]
    : undefined;
