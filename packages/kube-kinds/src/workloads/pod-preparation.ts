/** Fields set by the server in new pods (PrepareForCreate). */
import { type Pod, qosClass } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { appArmorProfileOf } from '../pod-spec/apparmor-annotations.ts';
import { withoutDisabledFields } from '../pod-spec/disabled-fields.ts';
import { APPARMOR_CONTAINER } from '../pod-spec/pod-annotations.ts';
import type { CreateContext } from '../strategy.ts';
import {
  isSameValue,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
  valueAt,
  withItems,
  withValue,
} from '../values.ts';

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];
const TERMS = ['requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution'];

export const qosClassOf = (pod: ApiObject): string => {
  const spec = { ...objectAt(pod, 'spec'), containers: objectsAt(pod, 'spec', 'containers') };
  return qosClass({ ...pod, spec } as unknown as Pod);
};

export function prepareNewPod(pod: ApiObject, { nowMs }: Pick<CreateContext, 'nowMs'>): ApiObject {
  const spec = withoutDisabledFields(objectAt(pod, 'spec') ?? {}, undefined);
  const gated = objectsAt(spec, 'schedulingGates').length > 0;
  const conditions = gated ? { conditions: [gatedCondition(nowMs)] } : {};
  const status = { phase: 'Pending', ...conditions, qosClass: qosClassOf(pod) };
  return withProfiles({ ...pod, spec: withLabelKeys(spec, pod), status });
}

function gatedCondition(nowMs: number): JsonObject {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/**
 * Merges `matchLabelKeys` and `mismatchLabelKeys` into the label selectors of affinity terms and topology spread constraints, using the
 * pod's own label values.
 */
function withLabelKeys(spec: JsonObject, pod: ApiObject): JsonObject {
  const labels = objectAt(pod, 'metadata', 'labels') ?? {};
  let result = withItems(spec, ['topologySpreadConstraints'], (constraint) =>
    withConditions(constraint, labels, ['matchLabelKeys']),
  );
  for (const kind of ['podAffinity', 'podAntiAffinity'])
    for (const list of TERMS)
      result = withItems(result, ['affinity', kind, list], (term) => {
        const inner = objectAt(term, 'podAffinityTerm');
        const names = ['matchLabelKeys', 'mismatchLabelKeys'];
        return inner === undefined
          ? withConditions(term, labels, names)
          : { ...term, podAffinityTerm: withConditions(inner, labels, names) };
      });
  return result;
}

function withConditions(holder: JsonObject, labels: JsonObject, names: readonly string[]): JsonObject {
  const selector = objectAt(holder, 'labelSelector');
  if (selector === undefined) return holder;
  const added = names.flatMap((name) =>
    textsAt(holder, name)
      .filter((key) => Object.hasOwn(labels, key))
      .map((key) => ({ key, operator: name === 'matchLabelKeys' ? 'In' : 'NotIn', values: [labels[key]] })),
  );
  if (added.length === 0) return holder;
  const matchExpressions = [...objectsAt(selector, 'matchExpressions'), ...added];
  return { ...holder, labelSelector: { ...selector, matchExpressions } };
}

/** Sets missing AppArmor profiles of containers from deprecated annotations (applyAppArmorVersionSkew). */
function withProfiles(pod: ApiObject): ApiObject {
  if (textAt(pod, 'spec', 'os', 'name') === 'windows') return pod;
  let result = pod;
  for (const list of CONTAINERS)
    result = withItems(result, ['spec', list], (container) => {
      const profile = annotatedProfile(pod, container);
      const ofPod = valueAt(pod, 'spec', 'securityContext', 'appArmorProfile');
      if (profile === undefined || isSameValue(profile, ofPod)) return container;
      return withValue(container, ['securityContext', 'appArmorProfile'], profile);
    });
  return result;
}

function annotatedProfile(pod: ApiObject, container: JsonObject): JsonObject | undefined {
  const annotation = textAt(pod, 'metadata', 'annotations', APPARMOR_CONTAINER + textAt(container, 'name'));
  const isSet = valueAt(container, 'securityContext', 'appArmorProfile') !== undefined;
  return annotation === '' || isSet ? undefined : appArmorProfileOf(annotation);
}
