/** References from HorizontalPodAutoscalers to the objects they scale or get metrics from. */
import type { Field } from '../field.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, textAt } from '../values.ts';

/** `allowEmptyGroup` allows references to kinds in the core group, whose `apiVersion` has no group. */
export type ReferenceOptions = { allowAnyVersion?: boolean; allowEmptyGroup?: boolean };

/** Validates a reference (ValidateCrossVersionObjectReference). */
export function validateReference(ref: JsonObject, field: Field, options: ReferenceOptions): void {
  for (const name of ['kind', 'name']) {
    const text = textAt(ref, name);
    if (text === '') field.at(name).required();
    else field.at(name).invalidEach(text, pathSegmentProblems(text));
  }
  const problem = versionProblem(textAt(ref, 'apiVersion'), options);
  if (problem !== undefined) field.at('apiVersion').invalid(textAt(ref, 'apiVersion'), problem);
}

/** Returns what is wrong with a reference's `apiVersion`, or `undefined` if it is valid. */
export function versionProblem(
  apiVersion: string,
  { allowAnyVersion, allowEmptyGroup }: ReferenceOptions,
): string | undefined {
  if (allowAnyVersion) return undefined;
  const parts = apiVersion.split('/');
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const group = parts.length === 2 ? parts[0] : '';
  return group === '' && !allowEmptyGroup ? 'apiVersion must specify API group' : undefined;
}
