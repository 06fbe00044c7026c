/** Validates requests against ValidatingAdmissionPolicies (apiserver, plugin/policy/validating/dispatcher.go). */
import { type AdmissionAttributes, ApiError, forbidden } from '@podwright/api-machinery';
import { EventLoopBudget, type Registry } from '@podwright/base';
import { type ApiObject, textAt, textsAt } from '@podwright/kube-kinds';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';
import { type Evaluated, evaluatePolicy, type Failure, policyFailure } from './evaluate-policy.ts';
import { PolicyAnnotations } from './policy-annotations.ts';
import type { PolicyAuthorizer } from './policy-authorizer.ts';
import { type EnforcementAction, PolicyMetrics } from './policy-metrics.ts';
import { type Invocation, ignoresFailures, type Misconfigured, nameInErrors, PolicySource } from './policy-source.ts';
import type { MatchingParts } from './request-matching.ts';
import { requestVariables } from './request-values.ts';

const SOURCE = {
  policies: 'validatingadmissionpolicies.admissionregistration.k8s.io',
  bindings: 'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  compile: compilePolicy,
};

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

export type EngineParts = MatchingParts & {
  authorizer: PolicyAuthorizer;
  /** Where evaluations are counted. Default: they are not counted. */
  metrics?: Registry;
};

/** State that the validating policies share while they are evaluated for one request. */
type RequestState = { attributes: AdmissionAttributes; annotations: PolicyAnnotations; eventLoop: EventLoopBudget };
type Denial = { policy: ApiObject; binding?: ApiObject; failure: Failure };

/** Evaluates the stored ValidatingAdmissionPolicies against requests. */
export class PolicyEngine {
  readonly #parts: EngineParts;
  readonly #metrics: PolicyMetrics;
  readonly #source: PolicySource<CompiledPolicy>;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#metrics = new PolicyMetrics(parts.metrics);
    this.#source = new PolicySource(parts, SOURCE);
  }

  /** Throws an `ApiError` if a policy denies the request. Evaluation can yield to the event loop between expressions. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const annotations = new PolicyAnnotations();
    const state = { attributes, annotations, eventLoop: new EventLoopBudget() };
    const denials: Denial[] = [];
    for (const one of await this.#source.invocations(attributes)) denials.push(...(await this.#apply(one, state)));
    annotations.publish(attributes);
    if (denials.length > 0) throw denied(denials[0]!, attributes);
  }

  async #apply(
    invocation: Invocation<CompiledPolicy> | Misconfigured,
    { attributes, annotations, eventLoop }: RequestState,
  ): Promise<Denial[]> {
    const { policy, binding } = invocation;
    const ignores = ignoresFailures(policy);
    if ('problem' in invocation)
      return ignores ? [] : [{ policy, ...(binding && { binding }), failure: policyFailure(invocation.problem) }];
    const { compiled, resource, param } = invocation;
    const variables = requestVariables(attributes, { resource, param }, this.#parts);
    const evaluated = await evaluatePolicy(compiled, variables, eventLoop);
    annotations.add(policy, evaluated);
    const applied = { policy, binding: invocation.binding, evaluated, ignores };
    return denialsOf(applied, attributes, this.#metrics);
  }
}

type Applied = { policy: ApiObject; binding: ApiObject; evaluated: Evaluated; ignores: boolean };

/**
 * Warns the client and annotates the audit event according to the binding's `validationActions`. Returns the failures that deny the
 * request.
 */
function denialsOf(
  { policy, binding, evaluated, ignores }: Applied,
  attributes: AdmissionAttributes,
  metrics: PolicyMetrics,
): Denial[] {
  const actions = textsAt(binding, 'spec', 'validationActions');
  const denials: Denial[] = [];
  const names = { policy: policy.metadata.name ?? '', binding: binding.metadata.name ?? '' };
  const count = ({ message, seconds }: Failure, action: EnforcementAction) =>
    metrics.validated({ ...names, message, seconds }, action);
  const deny = (failure: Failure) => {
    count(failure, 'deny');
    denials.push({ policy, binding, failure });
  };
  for (const failure of evaluated.failures) {
    if (failure.isError && ignores) {
      count(failure, 'allow');
      continue;
    }
    if (actions.includes('Warn')) {
      const by = `ValidatingAdmissionPolicy '${names.policy}' with binding '${names.binding}'`;
      attributes.warn(`Validation failed for ${by}: ${failure.message}`);
      count(failure, 'warn');
    }
    if (actions.includes('Audit')) {
      annotateFailure({ binding, failure }, attributes);
      count(failure, 'audit');
    }
    if (actions.includes('Deny')) deny(failure);
  }
  for (const annotation of evaluated.annotations)
    if ('problem' in annotation && !ignores) deny(policyFailure(annotation.problem));
  return denials;
}

/** Annotates the audit event with a failed validation. As in upstream, only the first failed validation of a request is recorded. */
function annotateFailure(
  { binding, failure }: Required<Omit<Denial, 'policy'>>,
  { annotate }: AdmissionAttributes,
): void {
  const value = {
    message: failure.message,
    policy: textAt(binding, 'spec', 'policyName'),
    binding: binding.metadata.name,
    expressionIndex: failure.index,
    validationActions: textsAt(binding, 'spec', 'validationActions'),
  };
  annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([value]));
}

function denied({ policy, binding, failure }: Denial, attributes: AdmissionAttributes): ApiError {
  const by = binding === undefined ? '' : ` with binding '${binding.metadata.name}'`;
  const cause = `ValidatingAdmissionPolicy '${policy.metadata.name}'${by} denied request: ${failure.message}`;
  const { message, details } = forbidden(attributes.resource, nameInErrors(attributes), cause).status;
  const reason = failure.reason || 'Invalid';
  return new ApiError(CODES[reason] ?? 422, reason, { message, details: { ...details, causes: [{ message: cause }] } });
}
