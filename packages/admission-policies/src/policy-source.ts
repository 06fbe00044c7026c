/** Selects the policies, bindings and parameters for a request (apiserver, plugin/policy/generic/policy_dispatcher.go). */
import type { AdmissionAttributes } from '@podwright/api-machinery';
import { type ApiObject, objectAt, textAt } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { ConfigurationProblem, paramsOf } from './policy-params.ts';
import { type MatchingParts, policyMatch, RequestMatcher } from './request-matching.ts';

/** A policy to evaluate for a request, with a binding and a parameter object. */
export type Invocation<C> = {
  readonly policy: ApiObject;
  readonly binding: ApiObject;
  readonly compiled: C;
  /**
   * The resource matched by the policy's rules. With `matchPolicy: Equivalent`, this can be a different resource than the requested one.
   */
  readonly resource: Resource;
  /** The parameter object; `undefined` if the policy is evaluated without parameters. */
  readonly param: ApiObject | undefined;
};

/** A policy that matches a request but cannot be applied because the parameters it or its binding refers to are missing or invalid. */
export type Misconfigured = { readonly policy: ApiObject; readonly binding?: ApiObject; readonly problem: string };

export type SourceOptions<C> = {
  /** Store names of the resources that hold the policies and the bindings. */
  policies: string;
  bindings: string;
  compile: (policy: ApiObject) => C;
};

/** Finds the policies for requests, and caches their compiled form. */
export class PolicySource<C> {
  readonly #parts: MatchingParts;
  readonly #options: SourceOptions<C>;
  /** The compiled policies by UID. An entry is valid until the policy's generation changes. */
  readonly #compiled = new Map<string, { generation: unknown; compiled: C }>();

  constructor(parts: MatchingParts, options: SourceOptions<C>) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Returns an invocation for each combination of policy, binding and parameter object that applies to a request. Rejects with 404 if a
   * selector needs the labels of the request's namespace but the namespace does not exist.
   */
  async invocations(attributes: AdmissionAttributes): Promise<(Invocation<C> | Misconfigured)[]> {
    const policies = this.#list(this.#options.policies);
    const bindings = Map.groupBy(this.#list(this.#options.bindings), (one) => textAt(one, 'spec', 'policyName'));
    this.#dropDeleted(policies);
    const matcher = new RequestMatcher(attributes, this.#parts);
    const found: (Invocation<C> | Misconfigured)[] = [];
    for (const policy of policies) {
      const bound = bindings.get(policy.metadata.name ?? '') ?? [];
      const constraints = objectAt(policy, 'spec', 'matchConstraints');
      const resource =
        bound.length === 0 || constraints === undefined ? undefined : matcher.matched(policyMatch(constraints));
      if (resource === undefined) continue;
      for (const binding of bound) {
        const match = objectAt(binding, 'spec', 'matchResources');
        if (match !== undefined && matcher.matched(policyMatch(match)) === undefined) continue;
        for (const one of await this.#invocation({ policy, binding, resource }, attributes)) found.push(one);
      }
    }
    return found;
  }

  #list = (resource: string): ApiObject[] => this.#parts.store.list(resource).objects.map((one) => one.decode());

  async #invocation(
    { policy, binding, resource }: Pick<Invocation<C>, 'policy' | 'binding' | 'resource'>,
    { namespace }: AdmissionAttributes,
  ): Promise<(Invocation<C> | Misconfigured)[]> {
    try {
      const params = await paramsOf({ policy, binding, namespace }, this.#parts);
      const compiled = this.#compile(policy);
      return params.map((param) => ({ policy, binding, compiled, resource, param }));
    } catch (error) {
      if (!(error instanceof ConfigurationProblem)) throw error;
      const { message, isOfPolicy } = error;
      const problem = `failed to configure ${isOfPolicy ? 'policy' : 'binding'}: ${message}`;
      return [{ policy, ...(isOfPolicy ? {} : { binding }), problem }];
    }
  }

  #compile(policy: ApiObject): C {
    const { uid = '', generation } = policy.metadata;
    const known = this.#compiled.get(uid);
    if (known !== undefined && known.generation === generation) return known.compiled;
    const compiled = this.#options.compile(policy);
    this.#compiled.set(uid, { generation, compiled });
    return compiled;
  }

  #dropDeleted(policies: readonly ApiObject[]): void {
    if (this.#compiled.size <= policies.length) return;
    const uids = new Set(policies.map(({ metadata }) => metadata.uid));
    for (const uid of this.#compiled.keys()) if (!uids.has(uid)) this.#compiled.delete(uid);
  }
}

/** Returns the name of a request's object for messages about the rejection of the request. */
export const nameInErrors = ({ name, object }: Pick<AdmissionAttributes, 'name' | 'object'>): string =>
  name || object?.metadata.name || object?.metadata.generateName || 'Unknown';

/** Whether to admit a request if the policy cannot be evaluated (`failurePolicy: Ignore`). */
export const ignoresFailures = (policy: ApiObject): boolean => textAt(policy, 'spec', 'failurePolicy') === 'Ignore';
