/** Validates requests by ValidatingAdmissionPolicies (apiserver, plugin/policy/validating/dispatcher.go). */
import { type AdmissionAttributes, ApiError, forbidden, type ObjectStore } from '@podwright/api-machinery';
import { EventLoopBudget } from '@podwright/base';
import { fromJson, type Variables } from '@podwright/cel';
import { type ApiObject, objectAt, textAt, textsAt } from '@podwright/kube-kinds';
import type { Schema } from '@podwright/kube-schema';
import { AuthorizerValue, ResourceCheck } from './authorizer-values.ts';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';
import { type Evaluated, evaluatePolicy, type Failure } from './evaluate-policy.ts';
import type { PolicyAuthorizer } from './policy-authorizer.ts';
import { NAMESPACE_VALUES } from './policy-environment.ts';
import { matchesRequest } from './policy-matching.ts';
import { ConfigurationProblem, paramsOf } from './policy-params.ts';

export const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
export const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

export type EngineParts = { store: ObjectStore; schema: Schema; authorizer: PolicyAuthorizer };

type Denial = { policy: ApiObject; binding?: ApiObject; failure: Failure };

const problem = (message: string): Failure => ({ message, reason: '', isError: true, index: 0 });

/** Evaluates the stored policies and their bindings for requests. */
export class PolicyEngine {
  readonly #parts: EngineParts;
  /** The compiled policies by UID. An entry is valid while the generation of the policy is the same. */
  readonly #compiled = new Map<string, { generation: unknown; policy: CompiledPolicy }>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Throws an `ApiError` if a policy denies the request. Lets other work run between the evaluations. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const policies = this.#list(POLICIES);
    const bindings = Map.groupBy(this.#list(BINDINGS), (one) => textAt(one, 'spec', 'policyName'));
    this.#forgetOthers(policies);
    const denials: Denial[] = [];
    const budget = new EventLoopBudget();
    for (const policy of policies) {
      const bound = bindings.get(policy.metadata.name ?? '') ?? [];
      const constraints = objectAt(policy, 'spec', 'matchConstraints');
      if (bound.length === 0 || constraints === undefined) continue;
      if (!matchesRequest(constraints, attributes, this.#parts.store)) continue;
      for (const binding of bound) denials.push(...(await this.#apply({ policy, binding }, attributes, budget)));
    }
    if (denials.length > 0) throw denied(denials[0]!, attributes);
  }

  #list = (resource: string): ApiObject[] => this.#parts.store.list(resource).objects.map((one) => one.decode());

  async #apply(
    { policy, binding }: Required<Omit<Denial, 'failure'>>,
    attributes: AdmissionAttributes,
    budget: EventLoopBudget,
  ): Promise<Denial[]> {
    const match = objectAt(binding, 'spec', 'matchResources');
    if (match !== undefined && !matchesRequest(match, attributes, this.#parts.store)) return [];
    const ignores = textAt(policy, 'spec', 'failurePolicy') === 'Ignore';
    try {
      const { namespace } = attributes;
      const params = paramsOf({ policy, binding, namespace }, this.#parts);
      const denials: Denial[] = [];
      for (const param of params) {
        const evaluated = await evaluatePolicy(this.#compile(policy), this.#variables(attributes, param), budget);
        denials.push(...denialsOf({ policy, binding, evaluated, ignores }, attributes));
      }
      return denials;
    } catch (error) {
      if (!(error instanceof ConfigurationProblem)) throw error;
      const { message, isOfPolicy } = error;
      const failure = problem(`failed to configure ${isOfPolicy ? 'policy' : 'binding'}: ${message}`);
      return ignores ? [] : [{ policy, ...(isOfPolicy ? {} : { binding }), failure }];
    }
  }

  #compile(policy: ApiObject): CompiledPolicy {
    const { uid = '', generation } = policy.metadata;
    const known = this.#compiled.get(uid);
    if (known !== undefined && known.generation === generation) return known.policy;
    const compiled = compilePolicy(policy);
    this.#compiled.set(uid, { generation, policy: compiled });
    return compiled;
  }

  #forgetOthers(policies: readonly ApiObject[]): void {
    if (this.#compiled.size <= policies.length) return;
    const uids = new Set(policies.map(({ metadata }) => metadata.uid));
    for (const uid of this.#compiled.keys()) if (!uids.has(uid)) this.#compiled.delete(uid);
  }

  #variables(attributes: AdmissionAttributes, param: ApiObject | undefined): Variables {
    const { resource, subresource, namespace, name, user } = attributes;
    const { versioned = (object: ApiObject) => object } = attributes;
    const { store, authorizer } = this.#parts;
    const who = { authorizer, user };
    const { group: apiGroup, plural } = resource;
    const isNamespace = apiGroup === '' && plural === 'namespaces';
    const shown = (object: ApiObject | undefined) => () => fromJson(object && versioned(object));
    return {
      object: shown(attributes.object),
      oldObject: shown(attributes.oldObject),
      request: () => fromJson(requestOf(attributes)),
      params: () => fromJson(param),
      namespaceObject: () => {
        const found = isNamespace ? undefined : store.get({ resource: 'namespaces', namespace: '', name: namespace });
        return found === undefined ? null : NAMESPACE_VALUES.read(found.decode());
      },
      authorizer: new AuthorizerValue(who),
      'authorizer.requestResource': new ResourceCheck(who, {
        ...{ apiGroup, resource: plural, subresource, namespace, name },
      }),
    };
  }
}

const OPTIONS: Readonly<Record<string, string>> = { CREATE: 'Create', UPDATE: 'Update', DELETE: 'Delete' };

/** Returns the value of the variable `request` (admission.k8s.io/v1, AdmissionRequest). */
function requestOf({ resource, subresource, name, namespace, operation, user, dryRun }: AdmissionAttributes): object {
  const { group, version, kind, plural } = resource;
  const [kinds, resources] = [
    { group, version, kind },
    { group, version, resource: plural },
  ];
  const sub = subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource };
  const { username, uid, groups, extra } = user as typeof user & { uid?: string; extra?: Record<string, string[]> };
  return {
    ...{ kind: kinds, resource: resources, requestKind: kinds, requestResource: resources, ...sub },
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    ...{ operation, dryRun },
    userInfo: { username, ...(uid ? { uid } : {}), ...(groups ? { groups } : {}), ...(extra ? { extra } : {}) },
    options: { apiVersion: 'meta.k8s.io/v1', kind: `${OPTIONS[operation] ?? 'Create'}Options` },
  };
}

type Applied = { policy: ApiObject; binding: ApiObject; evaluated: Evaluated; ignores: boolean };

function denialsOf({ policy, binding, evaluated, ignores }: Applied, { warn }: AdmissionAttributes): Denial[] {
  const actions = textsAt(binding, 'spec', 'validationActions');
  const denials: Denial[] = [];
  for (const failure of evaluated.failures) {
    if (failure.isError && ignores) continue;
    const by = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
    if (actions.includes('Warn')) warn(`Validation failed for ${by}: ${failure.message}`);
    if (actions.includes('Deny')) denials.push({ policy, binding, failure });
  }
  for (const annotation of evaluated.annotations)
    if ('problem' in annotation && !ignores) denials.push({ policy, binding, failure: problem(annotation.problem) });
  return denials;
}

function denied({ policy, binding, failure }: Denial, attributes: AdmissionAttributes): ApiError {
  const { name, resource, object } = attributes;
  const by = binding === undefined ? '' : ` with binding '${binding.metadata.name}'`;
  const cause = `ValidatingAdmissionPolicy '${policy.metadata.name}'${by} denied request: ${failure.message}`;
  const shown = name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
  const { message, details } = forbidden(resource, shown, cause).status;
  const reason = failure.reason || 'Invalid';
  return new ApiError(CODES[reason] ?? 422, reason, { message, details: { ...details, causes: [{ message: cause }] } });
}
