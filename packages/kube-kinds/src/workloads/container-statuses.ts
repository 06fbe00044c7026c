/** Validates changes to container statuses (ValidateContainerStateTransition and others). */
import { type Container, couldRestartAllContainers, type Pod, type PodSpec, restartsAfter } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import type { Field } from '../field.ts';
import { unixIdProblems } from '../texts.ts';
import { type JsonObject, listAt, numberAt, objectAt, objectsAt, textAt } from '../values.ts';

const MAX_HEALTH_MESSAGE_BYTES = 1024;
const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];
const LISTS = [
  { statuses: 'containerStatuses', containers: 'containers' },
  { statuses: 'initContainerStatuses', containers: 'initContainers' },
];

/** Validates the container statuses of a pod. `field` is the field of the pod's status. */
export function validateContainerStatuses(pod: ApiObject, old: ApiObject, field: Field): void {
  for (const { statuses, containers } of LISTS)
    validateTransitions(pod, old, { field: field.at(statuses), containers });
  validateTransitions(pod, old, { field: field.at('ephemeralContainerStatuses'), containers: undefined });
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'])
    for (const [index, status] of objectsAt(pod, 'status', list).entries())
      validateUser(status, pod, field.at(list, index, 'user', 'linux'));
  for (const { statuses, containers } of LISTS)
    for (const [index, status] of objectsAt(pod, 'status', statuses).entries())
      validateDevices(
        status,
        objectsAt(pod, 'spec', containers),
        field.at(statuses, index, 'allocatedResourcesStatus'),
      );
  for (const [index, status] of objectsAt(pod, 'status', 'ephemeralContainerStatuses').entries())
    if (listAt(status, 'allocatedResourcesStatus').length > 0)
      field
        .at('ephemeralContainerStatuses', index, 'allocatedResourcesStatus')
        .forbidden('must not be specified in container status');
}

type Transition = { field: Field; containers: string | undefined };

/**
 * Rejects status updates that move a terminated container to another state if its restart policy forbids a restart. `containers` names the
 * spec's list of these containers; `undefined` for ephemeral containers, which never restart.
 */
function validateTransitions(pod: ApiObject, old: ApiObject, { field, containers }: Transition): void {
  const list = field.path.slice(field.path.lastIndexOf('.') + 1);
  const spec = { ...objectAt(old, 'spec'), containers: objectsAt(old, 'spec', 'containers') } as unknown as PodSpec;
  if (containers !== undefined && couldRestartAllContainers(spec)) return;
  const byName = new Map(
    objectsAt(old, 'spec', ...(containers === undefined ? ['-'] : [containers])).map((one) => [
      textAt(one, 'name'),
      one,
    ]),
  );
  const now = new Map(objectsAt(pod, 'status', list).map((status) => [textAt(status, 'name'), status]));
  for (const [index, status] of objectsAt(old, 'status', list).entries()) {
    const ended = objectAt(status, 'state', 'terminated');
    const after = now.get(textAt(status, 'name'));
    if (ended === undefined || after === undefined || objectAt(after, 'state', 'terminated') !== undefined) continue;
    const container = byName.get(textAt(status, 'name'));
    const oldPod = { ...old, spec } as unknown as Pod;
    const exitCode = numberAt(ended, 'exitCode') ?? 0;
    const mayRestart = container !== undefined && restartsAfter(oldPod, container as unknown as Container, exitCode);
    if (!mayRestart) field.at(index, 'state').forbidden('may not be transitioned to non-terminated state');
  }
}

function validateUser(status: JsonObject, pod: ApiObject, field: Field): void {
  const user = objectAt(status, 'user', 'linux');
  if (user === undefined) return;
  if (textAt(pod, 'spec', 'os', 'name') === 'windows') return field.forbidden('cannot be set for a windows pod');
  for (const name of ['uid', 'gid']) {
    const id = numberAt(user, name) ?? 0;
    field.at(name).invalidEach(id, unixIdProblems(id));
  }
  for (const [index, id] of listAt(user, 'supplementalGroups').entries())
    field.at('supplementalGroups', index).invalidEach(id, unixIdProblems(Number(id)));
}

function validateDevices(status: JsonObject, containers: readonly JsonObject[], field: Field): void {
  const devices = objectsAt(status, 'allocatedResourcesStatus');
  if (devices.length === 0) return;
  const container = containers.find((one) => textAt(one, 'name') === textAt(status, 'name'));
  for (const [index, device] of devices.entries()) {
    if (container !== undefined) validateDeviceName(textAt(device, 'name'), container, field.at(index, 'name'));
    validateHealth(objectsAt(device, 'resources'), field.at(index, 'resources'));
  }
}

function validateDeviceName(name: string, container: JsonObject, field: Field): void {
  const requests = Object.keys(objectAt(container, 'resources', 'requests') ?? {});
  const claims = objectsAt(container, 'resources', 'claims').map((claim) => {
    const request = textAt(claim, 'request');
    return `claim:${textAt(claim, 'name')}${request === '' ? '' : `/${request}`}`;
  });
  if (!name.startsWith('claim:')) {
    if (!requests.includes(name)) field.invalid(name, "must match one of the container's resource requests");
  } else if (!claims.includes(name))
    field.invalid(
      name,
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
    );
}

function validateHealth(resources: readonly JsonObject[], field: Field): void {
  const seen = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    const health = textAt(resource, 'health');
    const id = textAt(resource, 'resourceID');
    const { message } = resource;
    if (!HEALTH.includes(health)) field.at(index, 'health').notSupported(health, HEALTH);
    if (message === '') field.at(index, 'message').required('must be non-empty if specified');
    else if (typeof message === 'string' && Buffer.byteLength(message) > MAX_HEALTH_MESSAGE_BYTES)
      field.at(index, 'message').tooLong(MAX_HEALTH_MESSAGE_BYTES);
    if (seen.has(id)) field.at(index, 'resourceID').duplicate(id);
    seen.add(id);
  }
}
