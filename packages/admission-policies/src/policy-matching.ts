/** Decides which requests a policy or binding matches (apiserver, plugin/policy/matching). */
import { type AdmissionAttributes, groupResource, type ObjectStore } from '@podwright/api-machinery';
import {
  isSameValue,
  type JsonObject,
  matchesSelector,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from '@podwright/kube-kinds';

/** Whether `matchResources` or `matchConstraints` of a binding or policy match a request. */
export function matchesRequest(match: JsonObject, attributes: AdmissionAttributes, store: ObjectStore): boolean {
  if (!matchesNamespace(match, attributes, store) || !matchesObject(match, attributes)) return false;
  if (objectsAt(match, 'excludeResourceRules').some((rule) => matchesRule(rule, attributes, match))) return false;
  const rules = objectsAt(match, 'resourceRules');
  return rules.length === 0 || rules.some((rule) => matchesRule(rule, attributes, match));
}

function matchesNamespace(match: JsonObject, attributes: AdmissionAttributes, store: ObjectStore): boolean {
  const selector = objectAt(match, 'namespaceSelector') ?? {};
  const { namespace, object, resource, subresource } = attributes;
  const isNamespace = groupResource(resource) === 'namespaces';
  if (isSameValue(selector, {}) || (namespace === '' && !isNamespace)) return true;
  if (isNamespace && subresource === '' && object !== undefined)
    return matchesSelector(selector, object.metadata.labels);
  const found = store.get({ resource: 'namespaces', namespace: '', name: namespace })?.decode();
  return matchesSelector(selector, found?.metadata.labels);
}

function matchesObject(match: JsonObject, { object, oldObject }: AdmissionAttributes): boolean {
  const selector = objectAt(match, 'objectSelector') ?? {};
  if (isSameValue(selector, {})) return true;
  return [object, oldObject].some((one) => one !== undefined && matchesSelector(selector, one.metadata.labels));
}

const includes = (items: readonly string[], wanted: string): boolean => items.includes('*') || items.includes(wanted);

/** Whether a rule matches a request. With `matchPolicy: Equivalent`, the rule may name another version of the resource. */
function matchesRule(rule: JsonObject, attributes: AdmissionAttributes, match: JsonObject): boolean {
  const { resource, subresource, operation, namespace, name } = attributes;
  const isClusterScoped = namespace === '' || groupResource(resource) === 'namespaces';
  const scope = textAt(rule, 'scope') || '*';
  const names = textsAt(rule, 'resourceNames');
  const isVersion = includes(textsAt(rule, 'apiVersions'), resource.version);
  return (
    (scope === '*' || (scope === 'Cluster') === isClusterScoped) &&
    includes(textsAt(rule, 'operations'), operation) &&
    includes(textsAt(rule, 'apiGroups'), resource.group) &&
    (isVersion || textAt(match, 'matchPolicy') !== 'Exact') &&
    textsAt(rule, 'resources').some((one) => {
      const [plural, sub = ''] = one.split('/', 2);
      return (plural === '*' || plural === resource.plural) && (sub === '*' || sub === subresource);
    }) &&
    (names.length === 0 || names.includes(name))
  );
}
