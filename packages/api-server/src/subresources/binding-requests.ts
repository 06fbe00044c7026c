/** Assigns pods to nodes: POST of a Binding to `pods/NAME/binding` or to `bindings`. */

import { type Admission, ApiError, badRequest, conflict, type Registries, timestamp } from '@podwright/api-machinery';
import {
  type ApiObject,
  type FieldError,
  listAt,
  objectAt,
  STRATEGIES,
  textAt,
  withValue,
} from '@podwright/kube-kinds';
import { contextOf, encodingOf, namespaceOf } from '../server/resource-request.ts';
import type { SubresourceHandler } from '../server/server-parts.ts';
import { readObject } from '../server/write-requests.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { writeOptions } from '../wire/write-options.ts';
import { admittedObject } from './admitted-object.ts';
import { coreResource } from './core-resource.ts';
import { sendSuccess } from './send-success.ts';

/** Returns the handler for POSTs of a Binding to either path. */
export function bindingHandler(registries: Registries, admission: Admission): SubresourceHandler {
  return async (request) => {
    const { exchange, info, parts } = request;
    encodingOf(request, negotiateObject(exchange));
    const options = writeOptions('CreateOptions', exchange.query);
    const binding = await readObject(request, options.fieldValidation);
    const name = nameOf(binding, info.name);
    const errors = STRATEGIES.bindings!.validate!(binding);
    if (errors.length > 0) throw unknownError(errors);
    const given = contextOf(request, options);
    const admitted = await admittedObject(request, { admission, object: binding, name }, given);
    const context = { ...given, fieldManager: undefined, subresource: 'binding', isAdmitted: true };
    const bind = (pod: ApiObject) => assignedPod(pod, admitted, parts.now());
    await registries
      .for(coreResource(parts.schema, 'pods'))
      .change({ namespace: namespaceOf(request), name }, bind, context);
    await sendSuccess(request, 201);
  };
}

/** Returns a 500 error without a reason for errors in a Binding, because upstream does not convert them to an Invalid Status. */
function unknownError(errors: readonly FieldError[]): ApiError {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return new ApiError(500, '', { message: texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]` });
}

function nameOf({ metadata }: ApiObject, nameInUrl: string): string {
  const { name = '' } = metadata;
  if (nameInUrl !== '' && name !== nameInUrl) throw badRequest('name in URL does not match name in Binding object');
  return nameInUrl || name;
}

/**
 * Returns the pod as assigned to the node, with the PodScheduled condition and the binding's annotations and labels. Throws 409 if it
 * cannot be assigned.
 */
function assignedPod(pod: ApiObject, binding: ApiObject, nowMs: number): ApiObject {
  const { name = '', deletionTimestamp, uid, resourceVersion } = pod.metadata;
  const refuse = (reason: string) => conflict({ group: '', plural: 'pods/binding' }, name, reason);
  const given = binding.metadata;
  if (given.uid && given.uid !== uid)
    throw refuse(`Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${uid}`);
  if (given.resourceVersion && given.resourceVersion !== resourceVersion)
    throw refuse('the object has been modified; please apply your changes to the latest version and try again');
  if (deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  const present = textAt(pod, 'spec', 'nodeName');
  if (present !== '') throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(present)}`);
  if (listAt(pod, 'spec', 'schedulingGates').length > 0)
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const others = listAt(pod, 'status', 'conditions').filter((one) => textAt(one, 'type') !== 'PodScheduled');
  const condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: timestamp(nowMs) };
  const annotations = { ...pod.metadata.annotations, ...objectAt(binding, 'metadata', 'annotations') };
  const onNode = withValue(pod, ['spec', 'nodeName'], textAt(binding, 'target', 'name'));
  const ready = withValue(onNode, ['status', 'conditions'], [...others, condition]);
  const labels = { ...pod.metadata.labels, ...objectAt(binding, 'metadata', 'labels') };
  const withAnnotations = withEntries(ready, 'annotations', annotations);
  return withEntries(withAnnotations, 'labels', labels);
}

const withEntries = (object: ApiObject, field: 'annotations' | 'labels', entries: object): ApiObject =>
  Object.keys(entries).length === 0 ? object : withValue(object, ['metadata', field], entries);
