/** ValidatingAdmissionPolicies. The code that evaluates them is loaded when the first policy is created, to save memory. */
import type * as Policies from '@podwright/admission-policies';
import type { AdmissionAttributes, ObjectStore } from '@podwright/api-machinery';
import { STRATEGIES, type Strategy } from '@podwright/kube-kinds';
import type { Schema } from '@podwright/kube-schema';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { AdmissionPlugin } from './admission-plugin.ts';

export const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';

/** Groups to which policies do not apply: that of policies themselves, and those of reviews of users. */
const EXEMPT_GROUPS = ['admissionregistration.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io'];

/** Validates requests by the stored ValidatingAdmissionPolicies. */
export class ValidatingPolicies implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #parts: { store: ObjectStore; schema: Schema; authorizer: Authorizer };
  #engine: Policies.PolicyEngine | undefined;

  constructor(parts: { store: ObjectStore; schema: Schema; authorizer: Authorizer }) {
    this.#parts = parts;
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (EXEMPT_GROUPS.includes(attributes.resource.group)) return;
    if (this.#parts.store.list(POLICIES, { limit: 1 }).objects.length === 0) return;
    if (this.#engine === undefined) {
      const { PolicyEngine } = await import('@podwright/admission-policies');
      this.#engine ??= new PolicyEngine(this.#parts);
    }
    await this.#engine.validate(attributes);
  }
}

/** Returns the validation of policies, including that of their expressions. */
export function policyStrategy(): Strategy {
  const strategy = STRATEGIES[POLICIES]!;
  let library: typeof Policies | undefined;
  return {
    ...strategy,
    load: async () => {
      library ??= await import('@podwright/admission-policies');
    },
    validate: (object) => [...(strategy.validate?.(object) ?? []), ...library!.policyErrors(object)],
    validateUpdate: (object, old) => [
      ...(strategy.validateUpdate?.(object, old) ?? []),
      ...library!.policyErrors(object, old),
    ],
  };
}
