/** Versions of a CustomResourceDefinition in its internal form. Schemas are required but not validated. */
import { duplicate, type FieldError, invalidValue, required, tooMany } from '../field-error.ts';
import { repeats } from '../repeats.ts';
import { booleanAt, type JsonObject, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { labelErrors } from './definition-names.ts';

const MAX_WARNING_BYTES = 256;
const MAX_SELECTABLE_FIELDS = 8;
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function validateVersions(field: string, spec: JsonObject): FieldError[] {
  return objectsAt(spec, 'versions').flatMap((version, index) => {
    const at = `${field}[${index}]`;
    return [
      ...labelErrors(`${at}.name`, textAt(version, 'name')),
      ...validateWarning(`${at}.deprecationWarning`, version),
      ...validateParts(at, version),
    ];
  });
}

/** Validates the fields of a version, or the corresponding fields of the spec if they are shared by all versions. */
export const validateParts = (field: string, parts: JsonObject): FieldError[] => [
  ...validateScale(`${field}.subresources`, objectAt(parts, 'subresources', 'scale')),
  ...objectsAt(parts, 'additionalPrinterColumns').flatMap((column, index) =>
    validateColumn(`${field}.additionalPrinterColumns[${index}]`, column),
  ),
  ...validateSelectableFields(`${field}.selectableFields`, objectsAt(parts, 'selectableFields')),
];

/** Requires exactly one of the versions to be the storage version, and version names to be unique. */
export function validateVersionList(field: string, spec: JsonObject): FieldError[] {
  const versions = objectsAt(spec, 'versions');
  const isRepeated = repeats(versions.map((version) => textAt(version, 'name'))).includes(true);
  const stored = versions.filter((version) => booleanAt(version, 'storage')).length;
  const oneStored = 'must have exactly one version marked as storage version';
  return [
    ...(isRepeated ? [invalidValue(field, spec.versions, 'must contain unique version names')] : []),
    ...(stored === 1 ? [] : [invalidValue(field, spec.versions, oneStored)]),
  ];
}

function validateWarning(field: string, version: JsonObject): FieldError[] {
  const warning = valueAt(version, 'deprecationWarning');
  if (typeof warning !== 'string') return [];
  if (!booleanAt(version, 'deprecated'))
    return [invalidValue(field, warning, 'can only be set for deprecated versions')];
  const problems = [
    ...(Buffer.byteLength(warning) > MAX_WARNING_BYTES ? [`must be <= ${MAX_WARNING_BYTES} characters long`] : []),
    ...(warning === '' ? ['must not be an empty string'] : []),
    ...printableProblems(warning),
  ];
  return problems.map((problem) => invalidValue(field, warning, problem));
}

function printableProblems(text: string): string[] {
  const found = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(text);
  if (found === null) return [];
  const index = Buffer.byteLength(text.slice(0, found.index));
  return [`must only contain printable UTF-8 characters; non-printable character found at index ${index}`];
}

function validateScale(field: string, scale: JsonObject | undefined): FieldError[] {
  if (scale === undefined) return [];
  const requirePath = (name: string, prefix: string) => {
    const path = textAt(scale, name);
    const at = `${field}.scale.${name}`;
    return path === '' ? [required(at)] : validatePathBelow(at, path, [prefix]);
  };
  const selector = textAt(scale, 'labelSelectorPath');
  const at = `${field}.scale.labelSelectorPath`;
  return [
    ...requirePath('specReplicasPath', '.spec'),
    ...requirePath('statusReplicasPath', '.status'),
    ...(selector === '' ? [] : validatePathBelow(at, selector, ['.spec', '.status'])),
  ];
}

function validatePathBelow(field: string, path: string, prefixes: readonly string[]): FieldError[] {
  const errors = validatePath(field, path);
  if (errors.length > 0 || prefixes.some((prefix) => path.startsWith(`${prefix}.`))) return errors;
  const named = prefixes.length === 1 ? prefixes[0] : `either ${prefixes.join(' or ')}`;
  return [invalidValue(field, path, `should be a json path under ${named}`)];
}

const validatePath = (field: string, path: string): FieldError[] =>
  path.startsWith('.') ? [] : [invalidValue(field, path, 'must be a simple json path starting with .')];

function validateColumn(field: string, column: JsonObject): FieldError[] {
  const [type, format, path] = [textAt(column, 'type'), textAt(column, 'format'), textAt(column, 'jsonPath')];
  const oneOf = (values: readonly string[]) => `must be one of ${values.join(',')}`;
  const isKnownType = type === '' || COLUMN_TYPES.includes(type);
  const isKnownFormat = format === '' || COLUMN_FORMATS.includes(format);
  return [
    ...(textAt(column, 'name') === '' ? [required(`${field}.name`)] : []),
    ...(type === '' ? [required(`${field}.type`, oneOf(COLUMN_TYPES))] : []),
    ...(isKnownType ? [] : [invalidValue(`${field}.type`, type, oneOf(COLUMN_TYPES))]),
    ...(isKnownFormat ? [] : [invalidValue(`${field}.format`, format, oneOf(COLUMN_FORMATS))]),
    ...(path === '' ? [required(`${field}.JSONPath`)] : validatePath(`${field}.JSONPath`, path)),
  ];
}

/** Validates the selectable fields, but not whether their paths exist in the schema. */
function validateSelectableFields(field: string, fields: readonly JsonObject[]): FieldError[] {
  const paths = fields.map((one) => textAt(one, 'jsonPath'));
  const isRepeated = repeats(paths);
  const count = new Set(paths.filter((path) => path !== '')).size;
  const errors = paths.flatMap((path, index) => {
    const at = `${field}[${index}].jsonPath`;
    if (path === '') return [required(at)];
    const isMetadata = /^\.metadata(?:\.|$)/.test(path);
    return [
      ...(isMetadata ? [invalidValue(at, path, 'must not point to fields in metadata')] : []),
      ...(isRepeated[index] ? [duplicate(at, path)] : []),
    ];
  });
  return count > MAX_SELECTABLE_FIELDS ? [...errors, tooMany(field, count, MAX_SELECTABLE_FIELDS)] : errors;
}
