import type { Admission, AdmissionAttributes, RequestContext } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { namespaceOf } from '../server/resource-request.ts';
import type { ResourceRequest } from '../server/server-parts.ts';

type Created = { admission: Admission; object: ApiObject; name: string };

/**
 * Runs admission for an object sent to a subresource, such as a Binding. Returns the mutated object. Throws `ApiError` if the request is
 * rejected.
 */
export async function admittedObject(
  request: ResourceRequest,
  { admission, object, name }: Created,
  context: RequestContext,
): Promise<ApiObject> {
  const attributes = createAttributes(request, name, context);
  const { namespace } = attributes;
  const placed = { ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace || namespace } };
  const admitted = (await admission.mutate({ ...attributes, object: placed })) ?? placed;
  await admission.validate({ ...attributes, object: admitted });
  return admitted;
}

/** Returns the admission attributes, without the object, of a request that sends an object to a subresource. */
export function createAttributes(
  request: ResourceRequest,
  name: string,
  { user, dryRun, warn, options, annotate, signal }: RequestContext,
): Omit<AdmissionAttributes, 'object'> {
  const { resource, info } = request;
  return {
    ...{ operation: 'CREATE', resource, subresource: info.subresource, namespace: namespaceOf(request), name },
    ...{ user, dryRun, warn },
    ...(options && { options }),
    ...(annotate && { annotate }),
    ...(signal && { signal }),
  };
}
