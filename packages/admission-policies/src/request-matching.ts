/** Decides whether a request matches a webhook, policy or binding (apiserver, plugin/webhook/predicates and plugin/policy/matching). */
import {
  type AdmissionAttributes,
  groupResource,
  notFound,
  type ObjectStore,
  storeResource,
} from '@podwright/api-machinery';
import {
  type ApiObject,
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
  /** Whether the server serves a resource to clients. Webhooks and policies only receive objects in served versions. */
  isServed: (resource: Resource) => boolean;
  /** Converts a stored object to the version of the given resource. */
  versioned: (resource: Resource, object: ApiObject) => ApiObject;
};

/** The match criteria of a webhook, of a policy (`matchConstraints`) or of a binding (`matchResources`). */
export type Match = {
  /**
   * The webhook, `matchConstraints` or `matchResources`, of which only `namespaceSelector`, `objectSelector` and `matchPolicy` are used
   * here.
   */
  readonly criteria: JsonObject;
  readonly rules: readonly JsonObject[];
  /** Rules for requests that do not match even if one of `rules` does. Default: none. */
  readonly excluded?: readonly JsonObject[];
};

/** Returns the match criteria of a policy or binding, which matches all resources if it has no rules. */
export const policyMatch = (criteria: JsonObject): Match => {
  const rules = objectsAt(criteria, 'resourceRules');
  return {
    criteria,
    rules: rules.length > 0 ? rules : [EVERYTHING],
    excluded: objectsAt(criteria, 'excludeResourceRules'),
  };
};

const EVERYTHING: JsonObject = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };

/** Matches a request against the criteria of webhooks, policies and bindings. */
export class RequestMatcher {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: MatchingParts;
  #equivalents: readonly Resource[] | undefined;

  constructor(attributes: AdmissionAttributes, parts: MatchingParts) {
    this.#attributes = attributes;
    this.#parts = parts;
  }

  /**
   * Returns the resource matched by a rule, or `undefined` if the request does not match. With `matchPolicy: Equivalent`, this may be
   * another resource that stores the same objects, such as another version. Throws 404 if the selector needs the labels of a namespace that
   * does not exist.
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

  /** Whether the selector matches the request's namespace; `undefined` if the namespace does not exist. */
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
    // selects by the labels of objects that have metadata; the options objects of exec and port-forward requests have none
    const metadatas = [object, oldObject].map((one) => one?.metadata as ApiObject['metadata'] | undefined);
    return metadatas.some((metadata) => metadata !== undefined && matchesSelector(selector, metadata.labels));
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

/** Returns the other served resources that store the same objects and have the request's subresource. */
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
