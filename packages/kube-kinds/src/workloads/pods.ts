import { ipWarnings } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { jsonDiff } from '../json-diff.ts';
import { dns1123LabelProblems } from '../names.ts';
import { appArmorProfileOf } from '../pod-spec/apparmor-annotations.ts';
import { defaultSpecOfPod } from '../pod-spec/default-pod.ts';
import { withoutDisabledFields } from '../pod-spec/disabled-fields.ts';
import { APPARMOR_CONTAINER, MIRROR_ANNOTATION } from '../pod-spec/pod-annotations.ts';
import { containersOf } from '../pod-spec/visit-containers.ts';
import { podWarnings } from '../pod-spec/warnings.ts';
import { statusMetadata } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, numberAt, objectAt, objectsAt, textAt, valueAt, withValue } from '../values.ts';
import { prepareNewPod } from './pod-preparation.ts';
import { prepareResize, validateResize } from './pod-resize.ts';
import { preparePodStatus, validatePodStatus } from './pod-status.ts';
import { validatePodUpdate } from './pod-update.ts';
import { optionsOf, validateAnnotationUpdate, validateNewPod, validatePod } from './pod-validation.ts';
import { retainStatus } from './status-fields.ts';

const ENDED = ['Succeeded', 'Failed'];

function applyDefaults(pod: ApiObject): ApiObject {
  const complete = { ...pod, spec: defaultSpecOfPod(objectAt(pod, 'spec') ?? {}) };
  return objectAt(pod, 'status') === undefined ? complete : withFirstAddress(complete);
}

/** Makes `podIP` and `podIPs` consistent: `podIP` is the first of `podIPs`, and clients that set only `podIP` also set the list. */
function withFirstAddress(pod: ApiObject): ApiObject {
  const single = textAt(pod, 'status', 'podIP');
  const list = objectsAt(pod, 'status', 'podIPs');
  const first = textAt(list[0], 'ip');
  if (single !== '' && single !== first) return withValue(pod, ['status', 'podIPs'], [{ ip: single }]);
  return single === '' && first !== '' ? withValue(pod, ['status', 'podIP'], first) : pod;
}

function prepareForUpdate(pod: ApiObject, old: ApiObject): ApiObject {
  const spec = withoutDisabledFields(objectAt(pod, 'spec') ?? {}, objectAt(old, 'spec'));
  return retainStatus({ ...pod, spec }, old);
}

function prepareEphemeral(pod: ApiObject, old: ApiObject): ApiObject {
  const containers = valueAt(pod, 'spec', 'ephemeralContainers');
  const spec = withValue(objectAt(old, 'spec') ?? {}, ['ephemeralContainers'], containers);
  return { ...old, metadata: statusMetadata(pod, old), spec };
}

/** Ephemeral containers can be added, but not changed or removed. */
function validateEphemeral(pod: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const isStatic = Object.hasOwn(objectAt(old, 'metadata', 'annotations') ?? {}, MIRROR_ANNOTATION);
  if (isStatic) root.forbidden('static pods do not support ephemeral containers');
  if (isStatic) return root.errors;
  validatePod(pod, root, optionsOf(old));
  validateAnnotationUpdate(pod, old, root.at('metadata', 'annotations'));
  const field = root.at('spec', 'ephemeralContainers');
  const containers = new Map(objectsAt(pod, 'spec', 'ephemeralContainers').map((one) => [textAt(one, 'name'), one]));
  for (const before of objectsAt(old, 'spec', 'ephemeralContainers')) {
    const shown = `existing ephemeral containers ${JSON.stringify(textAt(before, 'name'))}`;
    const after = containers.get(textAt(before, 'name'));
    if (after === undefined) field.forbidden(`${shown} may not be removed\n`);
    else if (!isSameValue(before, after)) field.forbidden(`${shown} may not be changed\n${jsonDiff(before, after)}`);
  }
  return root.errors;
}

/** A pod is deleted immediately if it has terminated or has no node (CheckGracefulDelete). */
function gracePeriodSeconds(pod: ApiObject, requested: number | undefined): number {
  const seconds = requested ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? 0;
  const isAtOnce = textAt(pod, 'spec', 'nodeName') === '' || ENDED.includes(textAt(pod, 'status', 'phase'));
  if (isAtOnce) return 0;
  return seconds < 0 ? 1 : seconds;
}

function warnings(pod: ApiObject, old: ApiObject | undefined): string[] {
  if (old !== undefined) return [];
  const problems = dns1123LabelProblems(pod.metadata.name ?? '');
  const words =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  const ofName = problems.length === 0 ? [] : [`${words}: [${problems.join(' ')}]`];
  return [...appArmorWarnings(pod), ...ofName, ...podWarnings(pod)];
}

const addressWarnings = (pod: ApiObject): string[] =>
  ['podIPs', 'hostIPs'].flatMap((list) =>
    objectsAt(pod, 'status', list).flatMap((one, index) =>
      ipWarnings(`status.${list}[${index}].ip`, textAt(one, 'ip')),
    ),
  );

/**
 * Warns about deprecated AppArmor annotations, unless they specify the same profile as the pod. The profiles in the container fields cannot
 * be compared, because they have already been filled in from the annotations.
 */
function appArmorWarnings(pod: ApiObject): string[] {
  const ofPod = valueAt(pod, 'spec', 'securityContext', 'appArmorProfile');
  return containersOf(objectAt(pod, 'spec')).flatMap(({ container }) => {
    const key = APPARMOR_CONTAINER + textAt(container, 'name');
    if (valueAt(pod, 'metadata', 'annotations', key) === undefined) return [];
    const profile = appArmorProfileOf(textAt(pod, 'metadata', 'annotations', key));
    if (profile !== undefined && isSameValue(profile, ofPod)) return [];
    return [`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`];
  });
}

export const PODS: Strategy = {
  applyDefaults,
  prepareForCreate: prepareNewPod,
  prepareForUpdate,
  validate: validateNewPod,
  validateUpdate: validatePodUpdate,
  warnings,
  subresources: {
    status: {
      prepareForUpdate: preparePodStatus,
      validateUpdate: validatePodStatus,
      resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
      warnings: addressWarnings,
    },
    ephemeralcontainers: { prepareForUpdate: prepareEphemeral, validateUpdate: validateEphemeral },
    binding: { prepareForUpdate: (object) => object }, // the server computes the object
    resize: { prepareForUpdate: prepareResize, validateUpdate: validateResize },
  },
  selectableFields: {
    'spec.nodeName': (pod) => textAt(pod, 'spec', 'nodeName'),
    'spec.restartPolicy': (pod) => textAt(pod, 'spec', 'restartPolicy'),
    'spec.schedulerName': (pod) => textAt(pod, 'spec', 'schedulerName'),
    'spec.serviceAccountName': (pod) => textAt(pod, 'spec', 'serviceAccountName'),
    'spec.hostNetwork': (pod) => String(valueAt(pod, 'spec', 'hostNetwork') === true),
    'status.phase': (pod) => textAt(pod, 'status', 'phase'),
    'status.podIP': (pod) => textAt(objectsAt(pod, 'status', 'podIPs')[0], 'ip'),
    'status.nominatedNodeName': (pod) => textAt(pod, 'status', 'nominatedNodeName'),
  },
  hasGeneration: true,
  gracePeriodSeconds,
};
