import { type FieldError, required } from '../field-error.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../values.ts';

/** Validates a volume source of one type. `volume` is the PersistentVolume's name, or '' in a VolumeAttachment. */
export type SourceRule = (field: string, source: JsonObject, volume: string) => FieldError[];

/** Returns a rule that requires the named fields (strings or lists) of a volume source to be non-empty. */
export const requires =
  (...names: readonly string[]): SourceRule =>
  (field, source) =>
    names.flatMap((name) => {
      const isMissing = textAt(source, name) === '' && listAt(source, name).length === 0;
      return isMissing ? [required(`${field}.${name}`)] : [];
    });

/** Requires the named fields of a volume source's `secretRef`, if it has one. */
export const secretRef = (field: string, source: JsonObject, names: readonly string[]): FieldError[] => {
  const secret = objectAt(source, 'secretRef');
  return secret === undefined ? [] : requires(...names)(`${field}.secretRef`, secret, '');
};
