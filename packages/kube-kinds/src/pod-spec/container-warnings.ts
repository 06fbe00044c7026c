/** Warnings about single containers. */
import { parseQuantity } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { isSameValue, type JsonObject, objectAt, objectsAt, textAt } from '../values.ts';
import { appArmorProfileOf } from './apparmor-annotations.ts';
import { APPARMOR_CONTAINER, SECCOMP_CONTAINER } from './pod-annotations.ts';

const NANOS_PER_UNIT = 1_000_000_000n;
export const BYTE_RESOURCES = ['memory', 'ephemeral-storage'];
const NO_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';

/** Warns about an amount that is not a whole number of bytes. */
export function fractionWarning(quantity: string, field: Field): string[] {
  if (quantity === '' || parseQuantity(quantity).nanos % NANOS_PER_UNIT === 0n) return [];
  return [`${field.path}: fractional byte value ${JSON.stringify(quantity)} is invalid, must be an integer`];
}

/** Warns about a seccomp profile in an annotation, which no longer has any effect. `field` refers to that annotation. */
export function seccompWarning(context: JsonObject | undefined, annotations: JsonObject, field: Field): string[] {
  const key = field.path.slice(field.path.indexOf('[') + 1, -1);
  const isIgnored = objectAt(context, 'seccompProfile') === undefined && Object.hasOwn(annotations, key);
  return isIgnored ? [`${field.path}: ${NO_SECCOMP}`] : [];
}

/** Returns warnings about a container's security profiles. `holder` is the pod or template, and `root` refers to it. */
export function profileWarnings(container: JsonObject, holder: JsonObject, root: Field): string[] {
  const annotations = objectAt(holder, 'metadata', 'annotations') ?? {};
  const at = root.at('metadata', 'annotations');
  const name = textAt(container, 'name');
  const context = objectAt(container, 'securityContext');
  const warnings =
    Object.hasOwn(annotations, SECCOMP_CONTAINER + name) && objectAt(context, 'seccompProfile') === undefined;
  const seccomp = warnings ? [`${at.key(SECCOMP_CONTAINER + name).path}: ${NO_SECCOMP}`] : [];
  // only for templates: for pods, the pod strategy returns this warning
  const annotation = annotations[APPARMOR_CONTAINER + name];
  if (root.path === '' || typeof annotation !== 'string' || objectAt(context, 'appArmorProfile') !== undefined)
    return seccomp;
  const ofPod = objectAt(holder, 'spec', 'securityContext', 'appArmorProfile');
  if (ofPod !== undefined && isSameValue(ofPod, appArmorProfileOf(annotation))) return seccomp;
  return [
    ...seccomp,
    `${at.key(APPARMOR_CONTAINER + name).path}: deprecated since v1.30; use the "appArmorProfile" field instead`,
  ];
}

export function containerWarnings(container: JsonObject, field: Field): string[] {
  const fractions = BYTE_RESOURCES.flatMap((name) =>
    ['limits', 'requests'].flatMap((kind) =>
      fractionWarning(textAt(container, 'resources', kind, name), field.at('resources', kind).key(name)),
    ),
  );
  const seen = new Set<string>();
  const hidden = objectsAt(container, 'env').flatMap((variable, index) => {
    const name = textAt(variable, 'name');
    const isRepeated = seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    const value = textAt(variable, 'value');
    const extends_ = objectAt(variable, 'valueFrom') === undefined && value !== reference && value.includes(reference);
    if (!isRepeated || extends_) return [];
    const words = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return [`${field.at('env', index).path}: ${words}`];
  });
  return [...fractions, ...hidden];
}
