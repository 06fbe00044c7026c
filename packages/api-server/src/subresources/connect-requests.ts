import { type Admission, badRequest } from '@podwright/api-machinery';
import type { JsonObject } from '@podwright/kube-kinds';
import { authorizeAgain, kindOf, placeOf } from '../server/resource-request.ts';
import type { ResourceRequest } from '../server/server-parts.ts';

/**
 * Runs admission for a request that connects the client to another server (the CONNECT operation). `options`: the decoded parameters.
 * Returns the options as changed by admission; their values can be of any type. Throws `ApiError` if the request is denied.
 */
export async function admitConnect(
  request: ResourceRequest,
  admission: Admission,
  options: object,
): Promise<JsonObject> {
  const { exchange, writer, info, resource, user } = request;
  if (exchange.query.getAll('dryRun').length > 0) throw badRequest('dryRun is not supported');
  const { kind } = kindOf(request);
  const object = { kind, apiVersion: 'v1', metadata: {}, ...options };
  const target = { resource, subresource: info.subresource, ...placeOf(request) };
  const attributes = {
    operation: 'CONNECT',
    ...target,
    object,
    user,
    dryRun: false,
    warn: writer.warnings.add,
    signal: exchange.signal,
  } as const;
  const admitted = (await admission.mutate(attributes)) ?? object;
  await admission.validate({ ...attributes, object: admitted });
  authorizeAgain(request);
  return { ...admitted };
}
