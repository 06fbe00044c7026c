/** Pod annotations that have a meaning for the server (ValidatePodSpecificAnnotations). */
import type { Field } from '../field.ts';
import { qualifiedNameProblems } from '../names.ts';
import { isObject, type JsonObject, objectAt, textAt, textEntriesAt } from '../values.ts';
import type { PodOptions } from './options.ts';
import { DELETION_COST_ANNOTATION, hasValidDeletionCost } from './pod-options.ts';
import { validateTolerations } from './tolerations.ts';
import { containersOf } from './visit-containers.ts';
import { validateDescendingPath } from './volume-paths.ts';

const MAX_ANNOTATION_BYTES = 256 << 10;
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
export const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';

/** Validates the annotations of an object (ValidateAnnotations). */
export function validateAnnotations(annotations: JsonObject | undefined, field: Field): void {
  const entries = textEntriesAt(annotations);
  for (const [key] of entries) field.invalidEach(key, qualifiedNameProblems(key.toLowerCase()));
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > MAX_ANNOTATION_BYTES) field.tooLong(MAX_ANNOTATION_BYTES);
}

/** Validates the pod-specific annotations. `holder` is the pod or template, and `field` refers to its annotations. */
export function validatePodAnnotations(holder: JsonObject, field: Field, options: PodOptions): void {
  const annotations = objectAt(holder, 'metadata', 'annotations') ?? {};
  const spec = objectAt(holder, 'spec');
  if (Object.hasOwn(annotations, MIRROR_ANNOTATION) && textAt(spec, 'nodeName') === '')
    field
      .key(MIRROR_ANNOTATION)
      .invalid(annotations[MIRROR_ANNOTATION], 'must set spec.nodeName if mirror pod annotation is set');
  validateTolerationsText(textAt(annotations, TOLERATIONS), field, options);
  if (!options.allowInvalidDeletionCost && !hasValidDeletionCost(annotations))
    field.key(DELETION_COST_ANNOTATION).invalid(annotations[DELETION_COST_ANNOTATION], 'must be a 32bit integer');
  for (const [key, profile] of textEntriesAt(annotations))
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) validateSeccompText(profile, field.at(key));
  const names = new Set(containersOf(spec).map(({ container }) => textAt(container, 'name')));
  for (const [key, profile] of textEntriesAt(annotations))
    if (key.startsWith(APPARMOR_CONTAINER)) validateAppArmorText(profile, field.key(key), names);
}

function validateTolerationsText(text: string, field: Field, options: PodOptions): void {
  if (text === '') return;
  let tolerations: unknown;
  try {
    tolerations = JSON.parse(text);
  } catch (error) {
    return field.invalid(TOLERATIONS, (error as Error).message);
  }
  if (Array.isArray(tolerations)) validateTolerations(tolerations.filter(isObject), field.at(TOLERATIONS), options);
}

const LOCALHOST = 'localhost/';

function validateSeccompText(profile: string, field: Field): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return;
  if (profile.startsWith(LOCALHOST)) validateDescendingPath(profile.slice(LOCALHOST.length), field);
  else field.invalid(profile, 'must be a valid seccomp profile');
}

function validateAppArmorText(profile: string, field: Field, names: ReadonlySet<string>): void {
  const container = field.path.slice(field.path.indexOf(APPARMOR_CONTAINER) + APPARMOR_CONTAINER.length, -1);
  if (!names.has(container)) field.invalid(container, 'container not found');
  const isKnown = ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(LOCALHOST);
  if (!isKnown) field.invalid(profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`);
}

/** Requires security profiles in annotations of new pods to match those in fields. `field` refers to the pod spec. */
export function validateProfilesMatch(holder: JsonObject, field: Field): void {
  const annotations = objectAt(holder, 'metadata', 'annotations') ?? {};
  const spec = objectAt(holder, 'spec');
  const ofPod = { context: objectAt(spec, 'securityContext'), at: field.at('securityContext') };
  compareProfile(annotations[SECCOMP_POD], { ...ofPod, kind: 'seccomp' });
  for (const { container, list, index } of containersOf(spec)) {
    const own = { context: objectAt(container, 'securityContext'), at: field.at(list, index, 'securityContext') };
    compareProfile(annotations[SECCOMP_CONTAINER + textAt(container, 'name')], { ...own, kind: 'seccomp' });
  }
  if (textAt(spec, 'os', 'name') === 'windows') return;
  for (const { container, list, index } of containersOf(spec)) {
    const context = objectAt(container, 'securityContext');
    const effective = objectAt(context, 'appArmorProfile') === undefined ? ofPod.context : context;
    const at = field.at(list, index, 'securityContext');
    const annotation = annotations[APPARMOR_CONTAINER + textAt(container, 'name')];
    compareProfile(annotation, { context: effective, at, kind: 'apparmor' });
  }
}

type ProfileFields = { context: JsonObject | undefined; at: Field; kind: 'seccomp' | 'apparmor' };

function compareProfile(annotation: unknown, { context, at, kind }: ProfileFields): void {
  const name = kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile';
  const profile = objectAt(context, name);
  if (profile === undefined || typeof annotation !== 'string') return;
  const type = textAt(profile, 'type');
  const dockerDefault = kind === 'seccomp' ? ['docker/default'] : [];
  const expected: Record<string, readonly string[]> = {
    Unconfined: ['unconfined'],
    RuntimeDefault: ['runtime/default', ...dockerDefault],
  };
  const isSameType = type === 'Localhost' ? annotation.startsWith(LOCALHOST) : expected[type]?.includes(annotation);
  if (isSameType === false) at.at(name, 'type').forbidden(`${kind} type in annotation and field must match`);
  const file = annotation.slice(LOCALHOST.length);
  if (type === 'Localhost' && isSameType && profile.localhostProfile !== file)
    at.at(name, 'localhostProfile').forbidden(`${kind} profile in annotation and field must match`);
}
