import { type FieldError, invalidValue, tooLong } from '@podwright/kube-kinds';

const MAX_SUBRESOURCE_BYTES = 256;
/** Maximum length of a manager's name (upstream's FieldManagerMaxLength). */
const MAX_MANAGER_BYTES = 128;

/** Characters rejected by Go's `unicode.IsPrint`, which allows letters, marks, numbers, punctuation, symbols and the ASCII space. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Validates managed fields entries, which are usually written by the registry itself. */
export function validateManagedFields(entries: unknown): FieldError[] {
  return Array.isArray(entries) ? entries.flatMap(validateEntry) : [];
}

function validateEntry(entry: Record<string, unknown>, index: number): FieldError[] {
  const field = `metadata.managedFields[${index}]`;
  const { operation = '', fieldsType = '', subresource = '' } = entry;
  const isOperation = operation === 'Apply' || operation === 'Update';
  const isFieldsV1 = fieldsType === '' || fieldsType === 'FieldsV1';
  const isLong = Buffer.byteLength(String(subresource)) > MAX_SUBRESOURCE_BYTES;
  return [
    ...(isOperation ? [] : [invalidValue(`${field}.operation`, operation, 'must be `Apply` or `Update`')]),
    ...(isFieldsV1 ? [] : [invalidValue(`${field}.fieldsType`, fieldsType, 'must be `FieldsV1`')]),
    ...validateManager(`${field}.manager`, String(entry.manager ?? '')),
    ...(isLong ? [tooLong(`${field}.subresource`, MAX_SUBRESOURCE_BYTES)] : []),
  ];
}

function validateManager(field: string, manager: string): FieldError[] {
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) return [tooLong(field, MAX_MANAGER_BYTES)];
  return [...manager.matchAll(UNPRINTABLE)].map(({ 0: character, index }) => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    const position = Buffer.byteLength(manager.slice(0, index));
    return invalidValue(field, manager, `invalid character U+${code} (at position ${position})`);
  });
}
