/** Applies MutatingAdmissionPolicies to objects (apiserver, plugin/policy/mutating/dispatcher.go). */
import { isDeepStrictEqual } from 'node:util';
import { type AdmissionAttributes, ApiError, forbidden, notFound } from '@podwright/api-machinery';
import { EventLoopBudget, errorMessage } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { type CompiledMutations, compileMutations } from './compiled-mutations.ts';
import { OutOfBudget } from './expression-run.ts';
import { evaluateConditions, joinedProblems } from './match-conditions.ts';
import { MutationProblem, mutatedObject } from './mutated-object.ts';
import { toStorageVersion, versionedObject } from './object-versions.ts';
import type { EngineParts } from './policy-engine.ts';
import { PolicyMetrics } from './policy-metrics.ts';
import { type Invocation, ignoresFailures, type Misconfigured, nameInErrors, PolicySource } from './policy-source.ts';
import { InvokedHooks } from './reinvocation.ts';
import { requestVariables } from './request-values.ts';

const NAME = 'MutatingAdmissionPolicy';

const SOURCE = {
  policies: 'mutatingadmissionpolicies.admissionregistration.k8s.io',
  bindings: 'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  compile: compileMutations,
};

type WithObject = AdmissionAttributes & { object: ApiObject };
/** A policy that could not be applied. `reason`: the reason in the Status sent to the client. Default: `Forbidden`. */
type Problem = Misconfigured & { reason?: string };
/** State that the mutating policies share while they are applied to one request. */
type RequestState = { hooks: InvokedHooks; problems: Problem[]; eventLoop: EventLoopBudget };

/** Applies the stored policies and their bindings to requested objects. */
export class MutationEngine {
  readonly #parts: EngineParts;
  readonly #metrics: PolicyMetrics;
  readonly #source: PolicySource<CompiledMutations>;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#metrics = new PolicyMetrics(parts.metrics);
    this.#source = new PolicySource(parts, SOURCE);
  }

  /**
   * Returns the mutated object. Throws an `ApiError` if a policy with `failurePolicy: Fail` cannot be applied. Evaluation can yield to the
   * event loop between expressions.
   */
  async mutate(attributes: WithObject): Promise<ApiObject> {
    const invocations = await this.#source.invocations(attributes);
    if (invocations.length === 0) return attributes.object;
    this.#checkNamespace(attributes);
    const hooks = InvokedHooks.of(attributes, NAME);
    const problems: Problem[] = [];
    const state = { hooks, problems, eventLoop: new EventLoopBudget() };
    let { object } = attributes;
    let isMutated = false;
    for (const invocation of invocations) {
      if ('problem' in invocation) problems.push(invocation);
      else {
        const applied = await this.#apply(invocation, { ...attributes, object }, state);
        object = applied.object;
        isMutated ||= applied.isMutated;
      }
    }
    // like upstream, counts a mutation even if it leaves the object unchanged
    if (isMutated) hooks.changed();
    hooks.ended(object);
    const failed = problems.filter(({ policy }) => !ignoresFailures(policy));
    if (failed.length > 0) throw denied(failed, attributes);
    return object;
  }

  /** Throws 404 if the object's namespace does not exist. */
  #checkNamespace({ namespace, resource }: WithObject): void {
    if (namespace === '' || (resource.group === '' && resource.kind === 'Namespace')) return;
    if (this.#parts.store.get({ resource: 'namespaces', namespace: '', name: namespace }) === undefined)
      throw notFound({ group: '', plural: 'namespaces' }, namespace);
  }

  /** Applies a policy's mutations. `isMutated`: whether any mutation was applied, even if it left the object unchanged. */
  async #apply(
    invocation: Invocation<CompiledMutations>,
    attributes: WithObject,
    { hooks, problems, eventLoop }: RequestState,
  ): Promise<{ object: ApiObject; isMutated: boolean }> {
    const { policy, binding, compiled } = invocation;
    const fail = (problem: string) => problems.push({ policy, binding, problem, reason: 'Invalid' });
    const matched = await this.#conditions(invocation, attributes, eventLoop);
    if (typeof matched === 'string') fail(matched);
    const key = keyOf(invocation);
    let { object } = attributes;
    if (matched !== true || !hooks.isDue(key)) return { object, isMutated: false };
    let isMutated = false;
    for (const mutation of compiled.mutations) {
      if (eventLoop.isSpent) await eventLoop.renew();
      const startMs = performance.now();
      let message: string | undefined;
      try {
        object = this.#mutated(mutation, invocation, { ...attributes, object });
        isMutated = true;
      } catch (error) {
        message = errorMessage(error);
        if (!(error instanceof MutationProblem)) throw error;
        fail(message);
      } finally {
        this.#count(invocation, message, startMs);
      }
    }
    if (!isDeepStrictEqual(attributes.object, object)) hooks.changed();
    hooks.invoked(key, (policy.spec as { reinvocationPolicy?: string }).reinvocationPolicy === 'IfNeeded');
    return { object, isMutated };
  }

  #count({ policy, binding }: Invocation<unknown>, message: string | undefined, startMs: number): void {
    const seconds = (performance.now() - startMs) / 1000;
    const names = { policy: policy.metadata.name ?? '', binding: binding.metadata.name ?? '' };
    this.#metrics.mutated({ ...names, message, seconds });
  }

  /** Returns whether the policy's match conditions are true, or why they cannot be evaluated. */
  async #conditions(
    { compiled, resource, param }: Invocation<CompiledMutations>,
    attributes: WithObject,
    eventLoop: EventLoopBudget,
  ): Promise<boolean | string> {
    try {
      const variables = requestVariables(attributes, { resource, param }, this.#parts);
      const matched = await evaluateConditions(compiled.conditions, variables, eventLoop);
      return typeof matched === 'boolean' ? matched : joinedProblems(matched);
    } catch (error) {
      if (error instanceof OutOfBudget) return error.message;
      throw error;
    }
  }

  #mutated(
    mutation: CompiledMutations['mutations'][number],
    { compiled, resource, param }: Invocation<CompiledMutations>,
    attributes: WithObject,
  ): ApiObject {
    const { schema } = this.#parts;
    const variables = requestVariables(attributes, { resource, param }, this.#parts);
    const before = versionedObject(attributes, resource, attributes.object);
    const kind = { schema, resource, subresource: attributes.subresource };
    const value = mutatedObject(before, { mutation, declared: compiled.variables, variables, ...kind });
    if (value === before) return attributes.object;
    return toStorageVersion(attributes, value, { schema, resource, isStrict: mutation.type === 'JSONPatch' });
  }
}

function keyOf({ policy, binding, param }: Invocation<unknown>): string {
  return JSON.stringify([policy.metadata.name, binding.metadata.name, param?.metadata.namespace, param?.metadata.name]);
}

function denied(problems: readonly Problem[], { name, resource, object }: WithObject): ApiError {
  const { details } = forbidden(resource, nameInErrors({ name, object }), '').status;
  const messages = problems.map(({ policy, binding, problem }) => {
    const by =
      binding === undefined
        ? `policy ${JSON.stringify(policy.metadata.name)}`
        : `policy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
    return `${by} denied request: ${problem}`;
  });
  const causes = messages.map((message) => ({ message }));
  const reason = problems[0]!.reason ?? 'Forbidden';
  return new ApiError(403, reason, { message: messages[0]!, details: { ...details, causes } });
}
