import { type FieldError, required } from '../field-error.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../values.ts';

/** Validates a volume source of a certain type. `volume` is the PersistentVolume's name, or '' in a VolumeAttachment. */
export type SourceRule = (field: string, source: JsonObject, volume: string) => FieldError[];

/** Returns a rule that requires the named strings or lists to be non-empty. */
export const requires =
  (...names: readonly string[]): SourceRule =>
  (field, source) =>
    names.flatMap((name) => {
      const isMissing = textAt(source, name) === '' && listAt(source, name).length === 0;
      return isMissing ? [required(`${field}.${name}`)] : [];
    });

/** Requires the named fields if there is a secret reference. */
export const secretRef = (field: string, source: JsonObject, names: readonly string[]): FieldError[] => {
  const secret = objectAt(source, 'secretRef');
  return secret === undefined ? [] : requires(...names)(`${field}.secretRef`, secret, '');
};
