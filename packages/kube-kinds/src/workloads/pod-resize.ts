/** The `resize` subresource of pods (podResizeStrategy, ValidatePodResize). */
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { MIRROR_ANNOTATION } from '../pod-spec/pod-annotations.ts';
import { statusMetadata } from '../status-update.ts';
import { isSameValue, type JsonObject, objectAt, objectsAt, textAt, valueAt, withItems, withValue } from '../values.ts';
import { qosClassOf } from './pod-preparation.ts';
import { optionsOf, validatePod } from './pod-validation.ts';
import { withOldResources, withoutResizable } from './resize-amounts.ts';

const LISTS = ['containers', 'initContainers'];
const MUTABLE = 'only cpu and memory resources are mutable';

const namesOf = (pod: ApiObject, list: string): string[] =>
  objectsAt(pod, 'spec', list).map((container) => textAt(container, 'name'));

/**
 * Returns the old pod with the new resources and resize policies of its containers. If the two pods' containers differ, returns the new
 * pod, so that validation reports the error.
 */
export function prepareResize(pod: ApiObject, old: ApiObject): ApiObject {
  if (LISTS.some((list) => namesOf(pod, list).length !== namesOf(old, list).length)) return pod;
  let spec = withValue(objectAt(old, 'spec') ?? {}, ['resources'], valueAt(pod, 'spec', 'resources'));
  for (const list of LISTS) {
    const containers = objectsAt(pod, 'spec', list);
    const areSame = isSameValue(namesOf(pod, list), namesOf(old, list));
    if (!areSame) spec = { ...spec, [list]: containers };
    else
      spec = withItems(spec, [list], (container, index) => {
        const { resources, resizePolicy } = containers[index]!;
        return withValue(withValue(container, ['resources'], resources), ['resizePolicy'], resizePolicy);
      });
  }
  return { ...old, metadata: statusMetadata(pod, old), spec };
}

export function validateResize(pod: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const field = root.at('spec');
  validatePod(pod, root, optionsOf(old));
  const problem = unresizableProblem(old);
  if (problem !== undefined) return forbiddenPod(problem);
  if (!isSameQos(pod, old))
    field.invalid(valueAt(pod, 'status', 'qosClass'), 'Pod QOS Class may not change as a result of resizing');
  if (!isSupported(old)) field.forbidden('Pod running on node without support for resize');
  validatePodLevel(pod, old, field);
  const before = root.errors.length;
  for (const list of LISTS) validateOrder(pod, old, field.at(list));
  if (root.errors.length > before) return root.errors;
  validateRemovals(pod, old, field);
  validateContainers(pod, old, field);
  if (root.errors.length === 0 && !isSameValue(withOldResources(pod, old), objectAt(old, 'spec')))
    field.forbidden(MUTABLE);
  return root.errors;
}

function forbiddenPod(problem: string): FieldError[] {
  const field = new Field();
  field.forbidden(problem);
  return field.errors;
}

function unresizableProblem(old: ApiObject): string | undefined {
  const annotations = objectAt(old, 'metadata', 'annotations') ?? {};
  if (Object.hasOwn(annotations, MIRROR_ANNOTATION)) return 'static pods cannot be resized';
  return textAt(old, 'spec', 'os', 'name') === 'windows' ? 'windows pods cannot be resized' : undefined;
}

const isSameQos = (pod: ApiObject, old: ApiObject): boolean =>
  (textAt(old, 'status', 'qosClass') || qosClassOf(old)) === qosClassOf(pod);

/** Returns true if the pod's node supports resizing. Nodes that do report the resources of running containers in the pod status. */
function isSupported(old: ApiObject): boolean {
  const running = objectsAt(old, 'status', 'containerStatuses').find(
    (status) => objectAt(status, 'state', 'running') !== undefined,
  );
  return running === undefined || objectAt(running, 'resources') !== undefined;
}

function validatePodLevel(pod: ApiObject, old: ApiObject, field: Field): void {
  const before = objectAt(old, 'spec', 'resources');
  const after = objectAt(pod, 'spec', 'resources');
  const at = field.at('resources');
  if (before !== undefined && after === undefined) return at.forbidden('pod-level resources cannot be removed');
  for (const kind of ['requests', 'limits'])
    if (before !== undefined && isRemoved(objectAt(after, kind), objectAt(before, kind)))
      at.at(kind).forbidden(`pod-level resource ${kind} cannot be removed`);
  const others = (resources: JsonObject | undefined) => withoutResizable(resources ?? {});
  if (!isSameValue(others(after), others(before))) field.forbidden(`${MUTABLE} at pod-level`);
}

function isRemoved(amounts: JsonObject | undefined, old: JsonObject | undefined): boolean {
  return Object.keys(old ?? {}).some((name) => !Object.hasOwn(amounts ?? {}, name));
}

function validateOrder(pod: ApiObject, old: ApiObject, field: Field): void {
  const list = field.path.slice(field.path.lastIndexOf('.') + 1);
  const [after, before] = [namesOf(pod, list), namesOf(old, list)];
  if (after.length !== before.length) return field.forbidden(`${list} may not be added or removed on resize`);
  for (const [index, name] of before.entries())
    if (after[index] !== name) field.at(index, 'name').forbidden(`${list} may not be renamed or reordered on resize`);
}

function validateRemovals(pod: ApiObject, old: ApiObject, field: Field): void {
  for (const list of ['initContainers', 'containers'])
    for (const [index, container] of objectsAt(old, 'spec', list).entries())
      for (const kind of ['requests', 'limits']) {
        const after = objectAt(pod, 'spec', list, index, 'resources', kind);
        if (isRemoved(after, objectAt(container, 'resources', kind)))
          field.at(list, index, 'resources', kind).forbidden(`resource ${kind} cannot be removed`);
      }
}

function validateContainers(pod: ApiObject, old: ApiObject, field: Field): void {
  const changed = withOldResources(pod, old);
  for (const [index, container] of objectsAt(changed, 'containers').entries())
    if (!isSameValue(container, valueAt(old, 'spec', 'containers', index))) field.forbidden(MUTABLE);
  for (const [index, container] of objectsAt(changed, 'initContainers').entries()) {
    const before = valueAt(old, 'spec', 'initContainers', index);
    const after = valueAt(pod, 'spec', 'initContainers', index);
    const at = field.at('initContainers', index);
    if (!isSameValue(container, before))
      at.forbidden('only cpu and memory resources for init or sidecar containers are mutable');
    const isSidecar = textAt(container, 'restartPolicy') === 'Always';
    if (isSidecar || isSameValue(after, before)) continue;
    for (const policy of objectsAt(container, 'resizePolicy'))
      if (textAt(policy, 'restartPolicy') === 'RestartContainer')
        at.forbidden('non-sidecar init containers with a resize policy of RestartContainer cannot be resized');
  }
}
