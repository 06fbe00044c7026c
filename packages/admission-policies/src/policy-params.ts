/** A binding's parameters (apiserver, plugin/policy/generic, CollectParams). */
import { type ObjectStore, storeResource } from '@podwright/api-machinery';
import { EventLoopBudget } from '@podwright/base';
import { type ApiObject, matchesSelector, objectAt, textAt } from '@podwright/kube-kinds';
import { apiVersionOf } from '@podwright/kube-schema';
import type { MatchingParts } from './request-matching.ts';

/** Thrown if a binding, or a policy with all its bindings, cannot be applied as configured. */
export class ConfigurationProblem extends Error {
  readonly isOfPolicy: boolean;

  constructor(message: string, isOfPolicy = false) {
    super(message);
    this.isOfPolicy = isOfPolicy;
  }
}

type ParamParts = Pick<MatchingParts, 'store' | 'schema' | 'versioned'>;

/**
 * Returns the parameter objects of a binding; `undefined` stands for an evaluation without parameters. The policy is evaluated once for
 * each. Rejects with `ConfigurationProblem`. Yields to the event loop, because a selector can match against thousands of objects created by
 * users.
 */
export async function paramsOf(
  { policy, binding, namespace }: { policy: ApiObject; binding: ApiObject; namespace: string },
  { store, schema, versioned }: ParamParts,
): Promise<(ApiObject | undefined)[]> {
  const kind = objectAt(policy, 'spec', 'paramKind');
  const reference = objectAt(binding, 'spec', 'paramRef');
  if (kind === undefined || reference === undefined) return [undefined];
  const [apiVersion, name] = [textAt(kind, 'apiVersion'), textAt(kind, 'kind')];
  const resource = schema.resources.find((one) => apiVersionOf(one) === apiVersion && one.kind === name);
  if (resource === undefined) {
    const group = apiVersion.includes('/') ? '' : '/'; // as Go prints kinds of the group ''
    const problem = `failed to find resource referenced by paramKind: '${group}${apiVersion}, Kind=${name}'`;
    throw new ConfigurationProblem(problem, true);
  }
  const given = textAt(reference, 'namespace');
  if (!resource.namespaced && given !== '')
    throw new ConfigurationProblem('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const place = resource.namespaced ? given || namespace : '';
  if (resource.namespaced && place === '')
    throw new ConfigurationProblem(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  const params = await read(reference, { resource: storeResource(schema, resource), namespace: place }, store);
  if (params.length === 0 && textAt(reference, 'parameterNotFoundAction') === 'Deny')
    throw new ConfigurationProblem('no params found for policy binding with `Deny` parameterNotFoundAction');
  return params.map((param) => ({ ...versioned(resource, param), apiVersion, kind: name }));
}

async function read(
  reference: object,
  place: { resource: string; namespace: string },
  store: ObjectStore,
): Promise<ApiObject[]> {
  const name = textAt(reference, 'name');
  if (name !== '') return [store.get({ ...place, name })?.decode() ?? []].flat();
  const selector = objectAt(reference, 'selector') ?? {};
  const budget = new EventLoopBudget();
  const found: ApiObject[] = [];
  for (const stored of store.list(place.resource, { namespace: place.namespace }).objects) {
    if (budget.isSpent) await budget.renew();
    const object = stored.decode();
    if (matchesSelector(selector, object.metadata.labels)) found.push(object);
  }
  return found;
}
