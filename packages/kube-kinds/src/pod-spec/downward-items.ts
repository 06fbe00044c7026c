import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../values.ts';
import { VOLUME_FIELDS, validateFieldRef, validateResourceFieldRef } from './field-references.ts';
import { validateFilePath, validateMode } from './volume-paths.ts';

/** Validates the files of a downward API volume (validateDownwardAPIVolumeFile). As in upstream, errors do not include the file's index. */
export function validateDownwardItems(items: readonly JsonObject[], field: Field): void {
  for (const item of items) validateItem(item, field);
}

function validateItem(item: JsonObject, field: Field): void {
  if (textAt(item, 'path') === '') field.at('path').required();
  validateFilePath(textAt(item, 'path'), field.at('path'));
  const fieldRef = objectAt(item, 'fieldRef');
  const resourceRef = objectAt(item, 'resourceFieldRef');
  if (fieldRef !== undefined) {
    validateFieldRef(fieldRef, field.at('fieldRef'), VOLUME_FIELDS);
    if (resourceRef !== undefined)
      field.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (resourceRef !== undefined) validateResourceFieldRef(resourceRef, field.at('resourceFieldRef'), true);
  else field.required('one of fieldRef and resourceFieldRef is required');
  validateMode(numberAt(item, 'mode'), field.at('mode'));
}
