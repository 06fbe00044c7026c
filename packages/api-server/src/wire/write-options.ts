/** Options of POST, PUT and PATCH requests (meta/v1 CreateOptions, UpdateOptions, PatchOptions). They are read from the query. */

import { invalid } from '@podwright/api-machinery';
import { type FieldError, forbiddenField, notSupported, required } from '@podwright/kube-kinds';
import { fieldManagerErrors } from './field-manager.ts';
import type { FieldValidation } from './field-validation.ts';
import type { PatchMediaType } from './media-type.ts';
import { QueryValues } from './query-values.ts';

export type WriteOptions = {
  dryRun: boolean;
  /** The name of the field manager; '' if the query does not name one. */
  fieldManager: string;
  fieldValidation: FieldValidation;
};

export type PatchOptions = WriteOptions & { force?: boolean };

const META = 'meta.k8s.io';

/** Throws 422 with these field errors if there are any. `kind`: the kind of the options, such as ListOptions. */
export function checkOptions(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: META, kind }, '', errors);
}

/** Reads the options of a POST or PUT. Throws 422 with upstream's field errors. */
export function writeOptions(kind: 'CreateOptions' | 'UpdateOptions', query: URLSearchParams): WriteOptions {
  const { options, errors } = readOptions(new QueryValues(query));
  checkOptions(kind, errors);
  return options;
}

/** Reads the options of a PATCH. Throws 422 with upstream's field errors. */
export function patchOptions(query: URLSearchParams, mediaType: PatchMediaType): PatchOptions {
  const values = new QueryValues(query);
  const { options, errors } = readOptions(values);
  const force = values.flag('force');
  const isApply = mediaType === 'application/apply-patch+yaml';
  const wrong: FieldError[] = [];
  if (isApply && options.fieldManager === '') wrong.push(required('fieldManager', 'is required for apply patch'));
  if (!isApply && force !== undefined) wrong.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  checkOptions('PatchOptions', [...wrong, ...errors]);
  return force === undefined ? options : { ...options, force };
}

/** Returns a field error if `dryRun` has a value other than `All`. */
export const dryRunErrors = (dryRun: readonly string[]): FieldError[] =>
  dryRun.every((value) => value === 'All') ? [] : [notSupported('dryRun', dryRun, ['All'])];

const VALIDATIONS: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

function readOptions(values: QueryValues): { options: WriteOptions; errors: FieldError[] } {
  const dryRun = values.texts('dryRun');
  const fieldManager = values.text('fieldManager');
  const fieldValidation = values.text('fieldValidation');
  const errors = [...fieldManagerErrors(fieldManager), ...dryRunErrors(dryRun)];
  if (!VALIDATIONS.includes(fieldValidation))
    errors.push(notSupported('fieldValidation', fieldValidation, VALIDATIONS));
  return {
    options: {
      dryRun: dryRun.length > 0,
      fieldManager,
      fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    },
    errors,
  };
}
