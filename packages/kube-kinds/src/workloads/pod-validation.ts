/** Validates new and updated pods (ValidatePodCreate, validatePodMetadataAndSpec). */
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { validateImageText } from '../pod-spec/containers.ts';
import type { PodOptions } from '../pod-spec/options.ts';
import {
  APPARMOR_CONTAINER,
  MIRROR_ANNOTATION,
  validatePodAnnotations,
  validateProfilesMatch,
} from '../pod-spec/pod-annotations.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import { validatePodSpec } from '../pod-spec/pod-spec.ts';
import { forbidTokens } from '../pod-spec/projected-volume.ts';
import { objectAt, objectsAt, textAt, textEntriesAt } from '../values.ts';

export const optionsOf = (old?: ApiObject): PodOptions => ({ ...podOptions(old), isPod: true });

export function validatePod(pod: ApiObject, root: Field, options: PodOptions): void {
  const spec = objectAt(pod, 'spec') ?? {};
  const field = root.at('spec');
  validatePodAnnotations(pod, root.at('metadata', 'annotations'), options);
  validatePodSpec(spec, field, { metadata: objectAt(pod, 'metadata'), options });
  forbidTokens(spec, field.at('volumes'));
  for (const list of ['containers', 'initContainers'])
    for (const [index, container] of objectsAt(spec, list).entries())
      validateImageText(container, field.at(list, index));
}

export function validateNewPod(pod: ApiObject): FieldError[] {
  const root = new Field();
  validatePod(pod, root, optionsOf());
  const field = root.at('spec');
  if (objectsAt(pod, 'spec', 'ephemeralContainers').length > 0)
    field.at('ephemeralContainers').forbidden('cannot be set on create');
  if (textAt(pod, 'spec', 'nodeName') !== '' && objectsAt(pod, 'spec', 'schedulingGates').length > 0)
    field.at('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
  validateProfilesMatch(pod, field);
  return root.errors;
}

/** Rejects changes to immutable pod annotations (ValidatePodSpecificAnnotationUpdates). */
export function validateAnnotationUpdate(pod: ApiObject, old: ApiObject, field: Field): void {
  const before = objectAt(old, 'metadata', 'annotations') ?? {};
  const after = objectAt(pod, 'metadata', 'annotations') ?? {};
  for (const [key, value] of textEntriesAt(before)) {
    if (Object.hasOwn(after, key) && after[key] === value) continue;
    if (key.startsWith(APPARMOR_CONTAINER)) field.key(key).forbidden('may not remove or update AppArmor annotations');
    if (key === MIRROR_ANNOTATION) field.key(key).forbidden('may not remove or update mirror pod annotation');
  }
  for (const [key] of textEntriesAt(after)) {
    if (Object.hasOwn(before, key)) continue;
    if (key.startsWith(APPARMOR_CONTAINER)) field.key(key).forbidden('may not add AppArmor annotations');
    if (key === MIRROR_ANNOTATION) field.key(key).forbidden('may not add mirror pod annotation');
  }
  validatePodAnnotations(pod, field, optionsOf(old));
}
