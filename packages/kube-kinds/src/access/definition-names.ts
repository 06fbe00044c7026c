import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1035LabelProblems } from '../names.ts';
import { type JsonObject, textAt, textsAt } from '../values.ts';

/** Requires the names that are mandatory in a CustomResourceDefinition's spec; its status may omit them. */
export const requireNames = (field: string, names: unknown): FieldError[] =>
  ['plural', 'singular', 'kind', 'listKind'].flatMap((name) =>
    textAt(names, name) === '' ? [required(`${field}.${name}`)] : [],
  );

/** Validates a definition's names: those in its spec, or the accepted names in its status. */
export function validateNames(field: string, names: JsonObject | undefined): FieldError[] {
  const listKind = textAt(names, 'listKind');
  const isSame = listKind !== '' && textAt(names, 'kind') === listKind;
  const same = invalidValue(`${field}.listKind`, listKind, 'kind and listKind may not be the same');
  return [
    ...['plural', 'singular'].flatMap((name) => validateLabel(`${field}.${name}`, textAt(names, name))),
    ...['kind', 'listKind'].flatMap((name) => validateKind(`${field}.${name}`, textAt(names, name))),
    ...validateLabels(`${field}.shortNames`, textsAt(names, 'shortNames')),
    ...(isSame ? [same] : []),
    ...validateLabels(`${field}.categories`, textsAt(names, 'categories')),
  ];
}

const validateLabel = (field: string, name: string): FieldError[] => (name === '' ? [] : labelErrors(field, name));

function validateKind(field: string, kind: string): FieldError[] {
  const problems = kind === '' ? [] : dns1035LabelProblems(kind.toLowerCase());
  const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
  return problems.length === 0 ? [] : [invalidValue(field, kind, detail)];
}

const validateLabels = (field: string, names: readonly string[]): FieldError[] =>
  names.flatMap((name, index) => labelErrors(`${field}[${index}]`, name));

export function labelErrors(field: string, name: string): FieldError[] {
  const problems = dns1035LabelProblems(name);
  return problems.length === 0 ? [] : [invalidValue(field, name, problems.join(','))];
}
