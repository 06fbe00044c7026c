import { type FieldError, required } from '../field-error.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../values.ts';

/** The rule of a type of volume. `volume` is the name of the persistent volume, '' in an attachment. */
export type SourceRule = (field: string, source: JsonObject, volume: string) => FieldError[];

/** Requires texts, or lists that are not empty. */
export const requires =
  (...names: readonly string[]): SourceRule =>
  (field, source) =>
    names.flatMap((name) => {
      const isMissing = textAt(source, name) === '' && listAt(source, name).length === 0;
      return isMissing ? [required(`${field}.${name}`)] : [];
    });

/** Requires the fields of a secret reference, if there is one. */
export const secretRef = (field: string, source: JsonObject, names: readonly string[]): FieldError[] => {
  const secret = objectAt(source, 'secretRef');
  return secret === undefined ? [] : requires(...names)(`${field}.secretRef`, secret, '');
};
