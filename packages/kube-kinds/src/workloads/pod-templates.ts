/** Pod templates, both as a separate kind and within workloads. */
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import { dns1123LabelProblems } from '../names.ts';
import { defaultPodTemplate } from '../pod-spec/default-pod.ts';
import { withoutDisabledFields } from '../pod-spec/disabled-fields.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import { validatePodTemplate } from '../pod-spec/pod-spec.ts';
import { podWarnings } from '../pod-spec/warnings.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, objectAt, withValue } from '../values.ts';

/** Sets the defaults of the template at `path`. */
export function defaultTemplateAt<T extends JsonObject>(object: T, path: readonly string[]): T {
  const template = objectAt(object, ...path);
  return template === undefined ? object : withValue(object, path, defaultPodTemplate(template));
}

/** Removes fields of disabled features from the template at `path`, unless the old object already has them. */
export function prepareTemplateAt<T extends JsonObject>(
  object: T,
  old: JsonObject | undefined,
  path: readonly string[],
): T {
  const spec = objectAt(object, ...path, 'spec');
  if (spec === undefined) return object;
  const prepared = withoutDisabledFields(spec, objectAt(old, ...path, 'spec'));
  return prepared === spec ? object : withValue(object, [...path, 'spec'], prepared);
}

/** Returns the warnings about a new or changed template. */
export function templateWarnings(object: ApiObject, old: ApiObject | undefined, path: readonly string[]): string[] {
  const template = objectAt(object, ...path);
  // upstream also repeats the warnings on any other change that increments the object's generation, such as scaling
  const isChanged = old === undefined || !isSameValue(withoutStatus(object), withoutStatus(old));
  return template === undefined || !isChanged ? [] : podWarnings(template, path.join('.'));
}

const withoutStatus = ({ status: _, metadata: __, ...others }: ApiObject): JsonObject => others;

/** Returns a warning if the object's name is not suitable for the host names of its pods. */
export function nameWarnings({ metadata }: ApiObject, old: ApiObject | undefined): string[] {
  const problems = old === undefined ? dns1123LabelProblems(metadata.name ?? '') : [];
  const words =
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return problems.length === 0 ? [] : [`${words}: [${problems.join(' ')}]`];
}

const TEMPLATE = ['template'];

function validate(object: ApiObject, old?: ApiObject) {
  const field = new Field();
  validatePodTemplate(objectAt(object, 'template') ?? {}, field.at('template'), podOptions(objectAt(old, 'template')));
  return field.errors;
}

export const POD_TEMPLATES: Strategy = {
  applyDefaults: (object) => defaultTemplateAt(object, TEMPLATE),
  prepareForCreate: (object) => prepareTemplateAt(object, undefined, TEMPLATE),
  prepareForUpdate: (object, old) => prepareTemplateAt(object, old, TEMPLATE),
  validate: (object) => validate(object),
  validateUpdate: validate,
  warnings: (object, old) => templateWarnings(object, old, TEMPLATE),
  hasGeneration: true,
};
