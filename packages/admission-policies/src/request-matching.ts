/** Decides which requests a webhook, policy or binding matches (apiserver, plugin/webhook/predicates and plugin/policy/matching). */
import {
  type AdmissionAttributes,
  groupResource,
  notFound,
  type ObjectStore,
  storeResource,
} from '@podwright/api-machinery';
import {
  isSameValue,
  type JsonObject,
  matchesSelector,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';

export type MatchingParts = {
  store: ObjectStore;
  schema: Schema;
  /** Whether clients can use a resource. Webhooks and policies only receive objects in versions that they could read, too. */
  isServed: (resource: Resource) => boolean;
};

/** What `matchConstraints`, `matchResources` and webhooks have in common. */
export type Match = {
  /** `namespaceSelector`, `objectSelector`, `matchPolicy`. */
  readonly criteria: JsonObject;
  readonly rules: readonly JsonObject[];
  readonly excluded?: readonly JsonObject[];
};

/** The match of a policy or binding. Without rules, it matches every resource. */
export const policyMatch = (criteria: JsonObject): Match => {
  const rules = objectsAt(criteria, 'resourceRules');
  return {
    criteria,
    rules: rules.length > 0 ? rules : [EVERYTHING],
    excluded: objectsAt(criteria, 'excludeResourceRules'),
  };
};

const EVERYTHING: JsonObject = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };

/** Matches one request with many rules. */
export class RequestMatcher {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: MatchingParts;
  #equivalents: readonly Resource[] | undefined;

  constructor(attributes: AdmissionAttributes, parts: MatchingParts) {
    this.#attributes = attributes;
    this.#parts = parts;
  }

  /**
   * Returns the resource by which the request is matched: with `matchPolicy: Equivalent`, it may be the resource in another version.
   * Returns `undefined` if the request is not matched. Throws 404 if the namespace whose labels decide does not exist.
   */
  matched({ criteria, rules, excluded = [] }: Match): Resource | undefined {
    const isSelected = this.#isNamespaceSelected(criteria);
    if (isSelected === false || !this.#isObjectSelected(criteria)) return undefined;
    if (this.#byRules(excluded, criteria) !== undefined) return undefined;
    const resource = this.#byRules(rules, criteria);
    const { namespace } = this.#attributes;
    if (resource !== undefined && isSelected === undefined)
      throw notFound({ group: '', plural: 'namespaces' }, namespace);
    return resource;
  }

  /** Returns `undefined` if the namespace does not exist. */
  #isNamespaceSelected(criteria: JsonObject): boolean | undefined {
    const selector = objectAt(criteria, 'namespaceSelector') ?? {};
    const { namespace, object, resource, subresource } = this.#attributes;
    const isNamespace = groupResource(resource) === 'namespaces';
    if (isSameValue(selector, {}) || (namespace === '' && !isNamespace)) return true;
    if (isNamespace && subresource === '' && object !== undefined)
      return matchesSelector(selector, object.metadata.labels);
    const found = this.#parts.store.get({ resource: 'namespaces', namespace: '', name: namespace })?.decode();
    return found && matchesSelector(selector, found.metadata.labels);
  }

  #isObjectSelected(criteria: JsonObject): boolean {
    const selector = objectAt(criteria, 'objectSelector') ?? {};
    if (isSameValue(selector, {})) return true;
    const { object, oldObject } = this.#attributes;
    return [object, oldObject].some((one) => one !== undefined && matchesSelector(selector, one.metadata.labels));
  }

  #byRules(rules: readonly JsonObject[], criteria: JsonObject): Resource | undefined {
    if (rules.length === 0) return undefined;
    const { resource } = this.#attributes;
    if (rules.some((rule) => matchesRule(rule, this.#attributes, resource))) return resource;
    if (textAt(criteria, 'matchPolicy') !== 'Equivalent') return undefined;
    this.#equivalents ??= equivalentsOf(this.#attributes, this.#parts);
    for (const rule of rules) {
      const found = this.#equivalents.find((one) => matchesRule(rule, this.#attributes, one));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Returns the other served resources with the same objects, which have the request's subresource. */
function equivalentsOf(
  { resource, subresource }: AdmissionAttributes,
  { schema, isServed }: MatchingParts,
): Resource[] {
  const stored = storeResource(schema, resource);
  return schema.resources.filter(
    (one) =>
      one !== resource &&
      storeResource(schema, one) === stored &&
      (subresource === '' || Object.hasOwn(one.subresources ?? {}, subresource)) &&
      isServed(one),
  );
}

const includes = (items: readonly string[], wanted: string): boolean => items.includes('*') || items.includes(wanted);

function matchesRule(rule: JsonObject, attributes: AdmissionAttributes, resource: Resource): boolean {
  const { subresource, operation, namespace, name } = attributes;
  const isClusterScoped = namespace === '' || groupResource(resource) === 'namespaces';
  const scope = textAt(rule, 'scope') || '*';
  const names = textsAt(rule, 'resourceNames');
  return (
    (scope === '*' || (scope === 'Cluster') === isClusterScoped) &&
    includes(textsAt(rule, 'operations'), operation) &&
    includes(textsAt(rule, 'apiGroups'), resource.group) &&
    includes(textsAt(rule, 'apiVersions'), resource.version) &&
    textsAt(rule, 'resources').some((one) => {
      const [plural, sub = ''] = one.split('/', 2);
      return (plural === '*' || plural === resource.plural) && (sub === '*' || sub === subresource);
    }) &&
    (names.length === 0 || names.includes(name))
  );
}
