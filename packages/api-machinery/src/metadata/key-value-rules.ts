import {
  type FieldError,
  invalidValue,
  labelValueProblems,
  qualifiedNameProblems,
  tooLong,
} from '@podwright/kube-kinds';

/** Maximum total size of all annotation keys and values, in bytes. */
const MAX_ANNOTATIONS_BYTES = 256 << 10;

export function validateLabels(labels: Readonly<Record<string, string>>): FieldError[] {
  const field = 'metadata.labels';
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels)) {
    for (const problem of qualifiedNameProblems(key)) errors.push(invalidValue(field, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalidValue(field, value, problem));
  }
  return errors;
}

/** Validates annotations. Unlike label keys, annotation keys may have upper case letters in their prefix. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>): FieldError[] {
  const field = 'metadata.annotations';
  const errors = Object.keys(annotations).flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue(field, key, problem)),
  );
  return annotationsBytes(annotations) > MAX_ANNOTATIONS_BYTES
    ? [...errors, tooLong(field, MAX_ANNOTATIONS_BYTES)]
    : errors;
}

const annotationsBytes = (annotations: Readonly<Record<string, string>>): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
