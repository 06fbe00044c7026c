/** The server's rules for pods: their initial status, and which of their fields may be changed. */
import { applyDefaults } from '../../../packages/kube-api/src/defaults/defaults.ts';
import type { Pod } from '../../../packages/kube-api/src/objects/types.ts';
import { qosClass } from '../../../packages/kube-api/src/pods/qos-class.ts';
import { type ApiObject, at, isObject, type JsonObject, listAt, objectAt, sameJson } from './json.ts';
import type { StatusCause } from './status-error.ts';
import type { Strategy } from './strategies.ts';

const asPod = (object: ApiObject) => object as unknown as Pod;
const asObject = (pod: Pod) => pod as unknown as ApiObject;

const CONTAINER_FIELDS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** Sets defaults, the QoS class and the phase. */
function completed(object: ApiObject): ApiObject {
  const pod = asObject(applyDefaults(asPod(object)));
  const { uid: _, ...metadata } = pod.metadata;
  const status = { phase: 'Pending', qosClass: qosClass(asPod(pod)) };
  return { ...pod, metadata: { ...metadata, uid: object.metadata.uid }, status };
}

const withSpec = (object: ApiObject, spec: JsonObject): ApiObject => ({ ...object, spec });

function statusOnly(object: ApiObject, old: ApiObject): ApiObject {
  const status = { qosClass: at(old, 'status', 'qosClass'), ...keepingGenerations(object, old) };
  return { ...old, metadata: { ...object.metadata, ownerReferences: old.metadata.ownerReferences }, status };
}

/** Retains `observedGeneration` of status and conditions if the client does not send it. */
function keepingGenerations(object: ApiObject, old: ApiObject): JsonObject {
  const status = objectAt(object, 'status');
  const before = objectAt(old, 'status');
  const kept = (now: JsonObject, then: unknown): JsonObject => {
    const generation = at(then, 'observedGeneration');
    return now.observedGeneration === undefined && generation !== undefined
      ? { ...now, observedGeneration: generation }
      : now;
  };
  const conditions = listAt(status, 'conditions').filter(isObject);
  const earlier = (type: unknown) => listAt(before, 'conditions').find((other) => at(other, 'type') === type);
  return kept(
    conditions.length === 0
      ? status
      : { ...status, conditions: conditions.map((condition) => kept(condition, earlier(condition.type))) },
    before,
  );
}

/** Only the list of ephemeral containers is changed. */
function ephemeralOnly(object: ApiObject, old: ApiObject): ApiObject {
  const given = at(object, 'spec', 'ephemeralContainers');
  const spec = { ...old.spec, ...(given === undefined ? {} : { ephemeralContainers: given }) };
  const changed = withSpec({ ...old, metadata: { ...object.metadata } }, spec);
  const complete = asObject(applyDefaults(asPod(changed)));
  return withSpec(changed, { ...spec, ephemeralContainers: at(complete, 'spec', 'ephemeralContainers') });
}

/** Only resources and resize policies are changed. */
function resourcesOnly(object: ApiObject, old: ApiObject): ApiObject {
  const spec: JsonObject = { ...old.spec };
  for (const field of ['containers', 'initContainers'] as const) {
    if (spec[field] === undefined) continue;
    spec[field] = listAt(old, 'spec', field).map((container) => {
      const given = listAt(object, 'spec', field).find((other) => at(other, 'name') === at(container, 'name'));
      if (!isObject(given) || !isObject(container)) return container;
      const { resources: _, resizePolicy: __, ...rest } = container;
      const { resources, resizePolicy } = given;
      return { ...rest, ...(resources ? { resources } : {}), ...(resizePolicy ? { resizePolicy } : {}) };
    });
  }
  const podResources = at(object, 'spec', 'resources');
  if (podResources !== undefined) spec.resources = podResources;
  return withSpec({ ...old, metadata: object.metadata }, spec);
}

const forbidden = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field,
});

const MAY_CHANGE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Only few fields of a pod's spec can be updated; others through subresources. */
function checkUpdate(object: ApiObject, old: ApiObject): StatusCause[] {
  const same = withoutChangeable(object, old);
  const before = withoutChangeable(old, old);
  return sameJson(same, before) ? [] : [forbidden('spec', MAY_CHANGE)];
}

function withoutChangeable(object: ApiObject, old: ApiObject): JsonObject {
  const { activeDeadlineSeconds: _, tolerations, ...spec } = objectAt(object, 'spec');
  const listed = Array.isArray(tolerations) ? tolerations : [];
  const kept = listAt(old, 'spec', 'tolerations').filter((one) => listed.some((other) => sameJson(one, other)));
  const isGated = listAt(old, 'spec', 'schedulingGates').length > 0;
  for (const field of CONTAINER_FIELDS)
    if (Array.isArray(spec[field])) spec[field] = spec[field].map((container) => ({ ...container, image: '' }));
  if (isGated) for (const field of ['schedulingGates', 'nodeSelector', 'affinity']) delete spec[field];
  const grace = Number(at(old, 'spec', 'terminationGracePeriodSeconds'));
  if (grace < 0 && spec.terminationGracePeriodSeconds === 1) spec.terminationGracePeriodSeconds = grace;
  return { ...spec, tolerations: kept };
}

function checkNew(object: ApiObject): StatusCause[] {
  if (listAt(object, 'spec', 'containers').length > 0) return [];
  return [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' }];
}

/** The fields of a subresource are checked separately from the main resource. */
function checkEphemeral(object: ApiObject, old: ApiObject): StatusCause[] {
  const before = listAt(old, 'spec', 'ephemeralContainers');
  const after = listAt(object, 'spec', 'ephemeralContainers');
  const changed = before.some(
    (container) =>
      !sameJson(
        container,
        after.find((other) => at(other, 'name') === at(container, 'name')),
      ),
  );
  const message = 'existing ephemeral containers may not be removed or changed';
  return changed ? [forbidden('spec.ephemeralContainers', message)] : [];
}

/** The status of an exited container that does not restart is final. */
function checkStatus(object: ApiObject, old: ApiObject): StatusCause[] {
  const policy = at(old, 'spec', 'restartPolicy');
  if (policy === 'Always') return [];
  const after = listAt(object, 'status', 'containerStatuses');
  return listAt(old, 'status', 'containerStatuses').flatMap((before, index) => {
    const exitCode = at(before, 'state', 'terminated', 'exitCode');
    if (exitCode === undefined || (exitCode !== 0 && policy === 'OnFailure')) return [];
    const now = after.find((one) => at(one, 'name') === at(before, 'name'));
    if (now === undefined || at(now, 'state', 'terminated') !== undefined) return [];
    const field = `status.containerStatuses[${index}].state`;
    return [forbidden(field, 'may not be transitioned to non-terminated state')];
  });
}

export const POD_STRATEGY: Strategy = {
  create: completed,
  update: (object, old) => {
    const { status: _, ...rest } = object;
    return { ...asObject(applyDefaults(asPod(rest as ApiObject))), metadata: object.metadata, status: old.status };
  },
  subresources: { status: statusOnly, ephemeralcontainers: ephemeralOnly, resize: resourcesOnly },
  checkNew,
  check: checkUpdate,
  checks: { status: checkStatus, ephemeralcontainers: checkEphemeral },
};
