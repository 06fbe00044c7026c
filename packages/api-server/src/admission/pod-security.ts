import {
  type AdmissionAttributes,
  groupResource,
  internalError,
  invalid,
  type ObjectStore,
} from '@podwright/api-machinery';
import { type ApiObject, objectAt, objectsAt, textAt, valueAt } from '@podwright/kube-kinds';
import { type AdmissionPlugin, rejected } from './admission-plugin.ts';
import type { CheckedPod } from './pod-security/check.ts';
import { describeViolations, violationsOf } from './pod-security/checks.ts';
import { violatingPods } from './pod-security/namespace-check.ts';
import { compareLevels, formatLevel, isSameLevel, type Policy, PRIVILEGED, policyOf } from './pod-security/policy.ts';

export type PodSecurityParts = {
  store: ObjectStore;
  /** The policy for namespaces without labels. Default: privileged. */
  defaults?: Policy;
  /** Namespaces, users and RuntimeClasses whose requests are exempt from the checks. */
  exemptions?: { namespaces?: readonly string[]; usernames?: readonly string[]; runtimeClasses?: readonly string[] };
};

/** Pod subresources whose requests carry no pod or do not change its containers. */
const IGNORED = ['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'];

/** Paths of the pod templates in workload objects. Violations in a template only cause warnings. */
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['podtemplates', ['template']],
  ['replicationcontrollers', ['spec', 'template']],
  ['replicasets.apps', ['spec', 'template']],
  ['deployments.apps', ['spec', 'template']],
  ['statefulsets.apps', ['spec', 'template']],
  ['daemonsets.apps', ['spec', 'template']],
  ['jobs.batch', ['spec', 'template']],
  ['cronjobs.batch', ['spec', 'jobTemplate', 'spec', 'template']],
]);

/** Enforces the Pod Security Standards selected by a namespace's labels. */
export class PodSecurity implements AdmissionPlugin {
  readonly name = 'PodSecurity';
  readonly #store: ObjectStore;
  readonly #defaults: Policy;
  readonly #exemptions: NonNullable<PodSecurityParts['exemptions']>;

  constructor({ store, defaults = PRIVILEGED, exemptions = {} }: PodSecurityParts) {
    this.#store = store;
    this.#defaults = defaults;
    this.#exemptions = exemptions;
  }

  validate(attributes: AdmissionAttributes): void {
    const { operation, resource, subresource } = attributes;
    if (operation !== 'CREATE' && operation !== 'UPDATE') return;
    const kind = groupResource(resource);
    if (kind === 'pods') {
      if (!IGNORED.includes(subresource)) this.#checkPod(attributes);
    } else if (subresource === '') {
      if (kind === 'namespaces') this.#checkNamespace(attributes);
      else if (TEMPLATES.has(kind)) this.#warnOfTemplate(attributes, TEMPLATES.get(kind)!);
    }
  }

  #checkPod(attributes: AdmissionAttributes): void {
    const { object, oldObject, warn } = attributes;
    if (object === undefined || this.#isExempt(attributes)) return;
    if (oldObject !== undefined && !changesContainers(object, oldObject)) return;
    const { enforce, warn: warned } = this.#policyOf(attributes);
    if (this.#isExemptClass(object.spec)) return;
    const pod = { annotations: objectAt(object, 'metadata', 'annotations') ?? {}, spec: object.spec };
    const violations = violationsOf(enforce, pod);
    if (violations.length > 0)
      throw rejected(
        attributes,
        `violates PodSecurity ${JSON.stringify(formatLevel(enforce))}: ${describeViolations(violations)}`,
      );
    this.#warn(warned, pod, warn);
  }

  #warnOfTemplate(attributes: AdmissionAttributes, path: readonly string[]): void {
    const template = objectAt(attributes.object, ...path);
    if (template === undefined || this.#isExempt(attributes)) return;
    if (this.#store.get(namespaceKey(attributes.namespace)) === undefined) return;
    if (this.#isExemptClass(template.spec)) return;
    const annotations = objectAt(template, 'metadata', 'annotations') ?? {};
    this.#warn(this.#policyOf(attributes).warn, { annotations, spec: template.spec }, attributes.warn);
  }

  #warn(level: Policy['warn'], pod: CheckedPod, warn: (message: string) => void): void {
    const violations = violationsOf(level, pod);
    if (violations.length === 0) return;
    warn(`would violate PodSecurity ${JSON.stringify(formatLevel(level))}: ${describeViolations(violations)}`);
  }

  /**
   * Validates the namespace's labels. If the enforced level becomes stricter or its version changes, warns about existing pods that violate
   * it.
   */
  #checkNamespace({ object, oldObject, namespace, warn }: AdmissionAttributes): void {
    const { policy, errors } = policyOf(object?.metadata.labels ?? {}, this.#defaults);
    const old = oldObject && policyOf(oldObject.metadata.labels ?? {}, this.#defaults);
    if (errors.length > 0 && JSON.stringify(errors) !== JSON.stringify(old?.errors))
      throw invalid({ group: '', kind: 'Namespace' }, namespace, errors);
    if (old === undefined || this.#exemptions.namespaces?.includes(namespace)) return;
    const { enforce } = policy;
    if (enforce.level === 'privileged' || isSameLevel(enforce, old.policy.enforce)) return;
    const isSameVersion = enforce.version === old.policy.enforce.version;
    if (isSameVersion && compareLevels(enforce.level, old.policy.enforce.level) <= 0) return;
    const pods = this.#store.list('pods', { namespace }).objects.map((pod) => pod.decode());
    const checked = pods.filter(({ spec }) => !this.#isExemptClass(spec));
    for (const warning of violatingPods(namespace, enforce, checked)) warn(warning);
  }

  #policyOf({ namespace }: AdmissionAttributes): Policy {
    const found = this.#store.get(namespaceKey(namespace))?.decode();
    if (found === undefined) throw internalError(`failed to lookup namespace ${JSON.stringify(namespace)}`);
    return policyOf(found.metadata.labels ?? {}, this.#defaults).policy;
  }

  #isExempt({ namespace, user }: AdmissionAttributes): boolean {
    const { namespaces = [], usernames = [] } = this.#exemptions;
    return namespaces.includes(namespace) || usernames.includes(user.username);
  }

  #isExemptClass(spec: unknown): boolean {
    return this.#exemptions.runtimeClasses?.includes(textAt(spec, 'runtimeClassName')) ?? false;
  }
}

const namespaceKey = (name: string) => ({ resource: 'namespaces', namespace: '', name });

/** Whether an update adds or removes containers or changes an image. All other fields relevant to the checks are immutable. */
function changesContainers(pod: ApiObject, old: ApiObject): boolean {
  const images = ({ spec }: ApiObject, field: string) => objectsAt(spec, field).map((one) => textAt(one, 'image'));
  const differ = (field: string) => JSON.stringify(images(pod, field)) !== JSON.stringify(images(old, field));
  if (differ('containers') || differ('initContainers')) return true;
  const before = new Map(objectsAt(old.spec, 'ephemeralContainers').map((one) => [textAt(one, 'name'), one]));
  return objectsAt(pod.spec, 'ephemeralContainers').some(
    (one) =>
      valueAt(before.get(textAt(one, 'name')), 'image') !== valueAt(one, 'image') || !before.has(textAt(one, 'name')),
  );
}
