import { type FieldError, invalidValue, tooLong } from '../field-error.ts';
import { type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';
import { validateMap } from './device-lists.ts';
import { MAX_QUALIFIED_NAME, validateQualifiedName } from './device-names.ts';

const MAX_ATTRIBUTES_AND_CAPACITIES = 32;
const MAX_ATTRIBUTE_VALUES = 48;

/** Removes a device's fields that belong to alpha features. */
export function withoutFeatures(device: JsonObject): JsonObject {
  const { nodeAllocatableResourceMappings: _, ...others } = device;
  const attributes = objectAt(others, 'attributes');
  if (attributes === undefined) return others;
  const scalars = Object.entries(attributes).map(([name, attribute]) => [name, withoutLists(attribute)] as const);
  return withValue(others, ['attributes'], Object.fromEntries(scalars));
}

function withoutLists(attribute: unknown): unknown {
  const { ints: _ints, bools: _bools, strings: _strings, versions: _versions, ...scalar } = objectAt(attribute) ?? {};
  return scalar;
}

export function validateAttributes(field: string, device: JsonObject): FieldError[] {
  const attributes = objectAt(device, 'attributes') ?? {};
  const count = Object.keys(attributes).length;
  const total = count + Object.keys(objectAt(device, 'capacity') ?? {}).length;
  const tooMany = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES_AND_CAPACITIES}`;
  const tooManyValues = `the total number of attribute values must not exceed ${MAX_ATTRIBUTE_VALUES}`;
  return [
    ...(total > MAX_ATTRIBUTES_AND_CAPACITIES ? [invalidValue(field, total, tooMany)] : []),
    ...(count > MAX_ATTRIBUTE_VALUES ? [invalidValue(field, count, tooManyValues)] : []),
    ...validateMap(`${field}.attributes`, attributes, {
      maxKey: MAX_QUALIFIED_NAME,
      validateKey: validateQualifiedName,
      validate: validateAttribute,
    }),
  ];
}

const MAX_VALUE = 64;
const number = '(0|[1-9]\\d*)';
const preRelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const build = '[0-9a-zA-Z-]+';
const version = new RegExp(
  `^${number}\\.${number}\\.${number}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`,
);

function validateAttribute(field: string, attribute: unknown): FieldError[] {
  const given = ['bool', 'int', 'string', 'version'].filter((name) => valueAt(attribute, name) !== undefined);
  const tooLongAt = (name: string) =>
    Buffer.byteLength(textAt(attribute, name)) > MAX_VALUE ? [tooLong(`${field}.${name}`, MAX_VALUE)] : [];
  const text = textAt(attribute, 'version');
  // strings that are too long are rejected anyway, so do not match them against the pattern
  const isVersion = !given.includes('version') || (text.length <= 2 * MAX_VALUE && version.test(text));
  const notVersion = 'must be a string compatible with semver.org spec 2.0.0';
  const shown = given.length === 0 ? '' : attribute;
  return [
    ...tooLongAt('string'),
    ...(isVersion ? [] : [invalidValue(`${field}.version`, text, notVersion)]),
    ...tooLongAt('version'),
    ...(given.length === 1 ? [] : [invalidValue(field, shown, 'exactly one value must be specified')]),
  ];
}
