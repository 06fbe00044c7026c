/** Admission plugins for policies. To save memory, the code to compile and evaluate policies is loaded only once a policy exists. */
import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { ApiObject, Strategies } from '@podwright/kube-kinds';
import { checkedStrategy } from './checked-strategy.ts';
import type { MutationEngine } from './mutation-engine.ts';
import type { EngineParts, PolicyEngine } from './policy-engine.ts';

export { checkedStrategy };

const VALIDATING = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const MUTATING = 'mutatingadmissionpolicies.admissionregistration.k8s.io';

/** API groups exempt from policies: those of the policies themselves and of token and access reviews. */
const EXEMPT_GROUPS = ['admissionregistration.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io'];

/** The plugins' dependencies, provided by the server. */
export type PolicyParts = EngineParts;

const load = () => import('./index.ts');

/** Whether the plugin must run for a request: any policies exist, and the request's API group is not exempt. */
const applies = ({ store }: PolicyParts, policies: string, { resource }: AdmissionAttributes): boolean =>
  !EXEMPT_GROUPS.includes(resource.group) && store.list(policies, { limit: 1 }).objects.length > 0;

/** Validates requests against the stored ValidatingAdmissionPolicies. */
export class ValidatingPolicies {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #parts: PolicyParts;
  #engine: PolicyEngine | undefined;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!applies(this.#parts, VALIDATING, attributes)) return;
    const { PolicyEngine } = await load();
    this.#engine ??= new PolicyEngine(this.#parts);
    await this.#engine.validate(attributes);
  }
}

/** Mutates objects with the stored MutatingAdmissionPolicies. */
export class MutatingPolicies {
  readonly name = 'MutatingAdmissionPolicy';
  readonly #parts: PolicyParts;
  #engine: MutationEngine | undefined;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  async mutate(attributes: AdmissionAttributes & { object: ApiObject }): Promise<ApiObject> {
    if (!applies(this.#parts, MUTATING, attributes)) return attributes.object;
    const { MutationEngine } = await load();
    this.#engine ??= new MutationEngine(this.#parts);
    return await this.#engine.mutate(attributes);
  }
}

/** Returns strategies for the policy kinds which also check that the expressions compile. */
export const policyStrategies = (): Strategies => ({
  [VALIDATING]: checkedStrategy(VALIDATING, async () => (await load()).policyErrors),
  [MUTATING]: checkedStrategy(MUTATING, async () => (await load()).mutationErrors),
});
