/**
 * Dynamic kubelet configuration (`configSource` of nodes). Kubernetes has removed the feature, but old nodes might still have the field.
 */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, required } from '../field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { configMapKeyProblems } from '../texts.ts';
import { type JsonObject, objectAt, textAt } from '../values.ts';

export function validateNodeConfig(object: ApiObject): FieldError[] {
  const source = objectAt(object, 'spec', 'configSource');
  const statuses = ['assigned', 'active', 'lastKnownGood'].flatMap((name) => {
    const status = objectAt(object, 'status', 'config', name);
    return status === undefined ? [] : validateSource(`status.config.${name}`, status, validateSavedMap);
  });
  return [
    ...(source === undefined ? [] : validateSource('spec.configSource', source, validateRequestedMap)),
    ...statuses,
  ];
}

type MapRule = (field: string, map: JsonObject) => FieldError[];

function validateSource(field: string, source: JsonObject, rule: MapRule): FieldError[] {
  const map = objectAt(source, 'configMap');
  if (map !== undefined) return [...rule(`${field}.configMap`, map), ...validateMap(`${field}.configMap`, map)];
  return [invalidValue(field, { ConfigMap: null }, 'exactly one reference subfield must be non-nil')];
}

const validateRequestedMap: MapRule = (field, map) =>
  ['uid', 'resourceVersion']
    .filter((name) => textAt(map, name) !== '')
    .map((name) => forbiddenField(`${field}.${name}`, `${name} must not be set in spec`));

const validateSavedMap: MapRule = (field, map) =>
  ['uid', 'resourceVersion'].filter((name) => textAt(map, name) === '').map((name) => required(`${field}.${name}`));

const MAP_FIELDS = {
  namespace: dns1123LabelProblems,
  name: dns1123SubdomainProblems,
  kubeletConfigKey: configMapKeyProblems,
};

const validateMap: MapRule = (field, map) =>
  Object.entries(MAP_FIELDS).flatMap(([name, problems]) => {
    const value = textAt(map, name);
    return value === '' ? [required(`${field}.${name}`)] : problemsAt(`${field}.${name}`, value, problems(value));
  });
