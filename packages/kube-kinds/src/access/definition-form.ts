/**
 * Upstream validates CustomResourceDefinitions in their internal form, and the field paths in its errors refer to that form. There,
 * settings shared by all versions are fields of the spec, and the fields of a webhook are in `conversion`.
 */
import { isSameValue, type JsonObject, objectAt, objectsAt, valueAt } from '../values.ts';

/**
 * Fields of a version that the internal form may move to the spec. Each pair is the field's name in a version and its name in the spec,
 * where it is if all versions have the same value.
 */
const SHARED: readonly (readonly [name: string, shared: string])[] = [
  ['subresources', 'subresources'],
  ['schema', 'validation'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
];

export function internalForm(spec: JsonObject): JsonObject {
  const versions = objectsAt(spec, 'versions');
  const [first] = versions;
  const identical = SHARED.filter(([name]) => versions.every((one) => isSameValue(one[name], first?.[name])));
  const shared = identical.map(([name, field]) => [field, valueAt(first, name)] as const);
  const names = new Set(identical.map(([name]) => name));
  const others = versions.map((version) =>
    Object.fromEntries(Object.entries(version).filter(([name]) => !names.has(name))),
  );
  const conversion = objectAt(spec, 'conversion');
  return {
    ...spec,
    ...(first === undefined ? {} : Object.fromEntries(shared)),
    versions: first === undefined ? versions : others,
    ...(conversion === undefined ? {} : { conversion: internalConversion(conversion) }),
  };
}

function internalConversion({ webhook, ...conversion }: JsonObject): JsonObject {
  const client = objectAt(webhook, 'clientConfig');
  return {
    ...conversion,
    ...(client === undefined ? {} : { webhookClientConfig: client }),
    conversionReviewVersions: valueAt(webhook, 'conversionReviewVersions'),
  };
}
