/** Validates Ingresses (networking/validation). */
import { parseIp } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1123SubdomainProblems, wildcardSubdomainProblems } from '../names.ts';
import { isDnsSubdomain, problemsAt } from '../rules.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateBackend } from './ingress-backend.ts';

/** Which invalid values may be kept in an update because they are already in the old Ingress. */
export type IngressOptions = { allowInvalidSecretNames?: boolean; allowInvalidWildcardRules?: boolean };

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const INVALID_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const INVALID_ENDS = ['/..', '/.'];

export const ingressOptions = (old: ApiObject): IngressOptions => ({
  allowInvalidSecretNames: objectsAt(old, 'spec', 'tls').some((tls) => validateSecretName('', tls).length > 0),
  allowInvalidWildcardRules: objectsAt(old, 'spec', 'rules').some(
    (rule) => textAt(rule, 'host').includes('*') && validatePaths('', rule).length > 0,
  ),
});

export function validateIngress(object: ApiObject, options: IngressOptions): FieldError[] {
  const rules = objectsAt(object, 'spec', 'rules');
  const backend = objectAt(object, 'spec', 'defaultBackend');
  const className = textAt(object, 'spec', 'ingressClassName');
  const isClassSet = valueAt(object, 'spec', 'ingressClassName') !== undefined;
  const isEmpty = rules.length === 0 && backend === undefined;
  return [
    ...(isEmpty ? [invalidValue('spec', undefined, 'either `defaultBackend` or `rules` must be specified')] : []),
    ...(backend === undefined ? [] : validateBackend('spec.defaultBackend', backend)),
    ...rules.flatMap((rule, index) => validateRule(`spec.rules[${index}]`, rule, options)),
    ...objectsAt(object, 'spec', 'tls').flatMap((tls, index) => validateTls(`spec.tls[${index}]`, tls, options)),
    ...(isClassSet ? isDnsSubdomain('spec.ingressClassName', className) : []),
  ];
}

function validateTls(field: string, tls: JsonObject, { allowInvalidSecretNames }: IngressOptions): FieldError[] {
  const hosts = textsAt(tls, 'hosts').flatMap((host, index) => validateHost(`${field}.hosts[${index}]`, host));
  return [...hosts, ...(allowInvalidSecretNames ? [] : validateSecretName(`${field}.secretName`, tls))];
}

const validateHost = (field: string, host: string): FieldError[] =>
  problemsAt(field, host, host.includes('*') ? wildcardSubdomainProblems(host) : dns1123SubdomainProblems(host));

function validateSecretName(field: string, tls: JsonObject): FieldError[] {
  const name = textAt(tls, 'secretName');
  return name === '' ? [] : isDnsSubdomain(field, name);
}

function validateRule(field: string, rule: JsonObject, { allowInvalidWildcardRules }: IngressOptions): FieldError[] {
  const host = textAt(rule, 'host');
  const isIp = parseIp(host) !== undefined;
  const isSkipped = host.includes('*') && allowInvalidWildcardRules;
  return [
    ...(isIp ? [invalidValue(`${field}.host`, host, 'must be a DNS name, not an IP address')] : []),
    ...(host === '' ? [] : validateHost(`${field}.host`, host)),
    ...(isSkipped ? [] : validatePaths(field, rule)),
  ];
}

function validatePaths(field: string, rule: JsonObject): FieldError[] {
  if (objectAt(rule, 'http') === undefined) return [];
  const paths = objectsAt(rule, 'http', 'paths');
  if (paths.length === 0) return [required(`${field}.http.paths`)];
  return paths.flatMap((path, index) => validatePath(`${field}.http.paths[${index}]`, path));
}

function validatePath(field: string, path: JsonObject): FieldError[] {
  if (valueAt(path, 'pathType') === undefined) return [required(`${field}.pathType`, 'pathType must be specified')];
  const type = textAt(path, 'pathType');
  const typeErrors = PATH_TYPES.includes(type) ? [] : [notSupported(`${field}.pathType`, type, PATH_TYPES)];
  return [
    ...typeErrors,
    ...validatePathText(`${field}.path`, textAt(path, 'path'), type),
    ...validateBackend(`${field}.backend`, objectAt(path, 'backend') ?? {}),
  ];
}

function validatePathText(field: string, path: string, type: string): FieldError[] {
  const isFree = type === 'ImplementationSpecific';
  if (!PATH_TYPES.includes(type) || (isFree && path === '')) return [];
  const absolute = path.startsWith('/') ? [] : [invalidValue(field, path, 'must be an absolute path')];
  if (isFree) return absolute;
  const parts = INVALID_PARTS.filter((part) => path.includes(part)).map((part) => `must not contain '${part}'`);
  const ends = INVALID_ENDS.filter((end) => path.endsWith(end)).map((end) => `cannot end with '${end}'`);
  return [...absolute, ...problemsAt(field, path, [...parts, ...ends])];
}
