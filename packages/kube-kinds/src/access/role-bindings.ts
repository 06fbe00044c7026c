import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, objectAt, objectsAt, textAt, withItems } from '../values.ts';

const GROUP = 'rbac.authorization.k8s.io';
const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

function applyDefaults(object: ApiObject): ApiObject {
  const apiGroup = textAt(object, 'roleRef', 'apiGroup') || GROUP;
  const filled = { ...object, roleRef: { ...objectAt(object, 'roleRef'), apiGroup } };
  return withItems(filled, ['subjects'], (subject) => {
    const hasGroup = ['User', 'Group'].includes(textAt(subject, 'kind'));
    return hasGroup && textAt(subject, 'apiGroup') === '' ? { ...subject, apiGroup: GROUP } : subject;
  });
}

const validateWith =
  (roleKinds: readonly string[], isNamespaced: boolean) =>
  (object: ApiObject): FieldError[] => [
    ...validateRoleRef('roleRef', objectAt(object, 'roleRef'), roleKinds),
    ...objectsAt(object, 'subjects').flatMap((subject, index) =>
      validateSubject(`subjects[${index}]`, subject, isNamespaced),
    ),
  ];

function validateRoleRef(field: string, ref: unknown, kinds: readonly string[]): FieldError[] {
  const [group, kind, name] = [textAt(ref, 'apiGroup'), textAt(ref, 'kind'), textAt(ref, 'name')];
  return [
    ...(group === GROUP ? [] : [notSupported(`${field}.apiGroup`, group, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported(`${field}.kind`, kind, kinds)]),
    ...(name === '' ? [required(`${field}.name`)] : problemsAt(`${field}.name`, name, pathSegmentProblems(name))),
  ];
}

function validateSubject(field: string, subject: JsonObject, isNamespaced: boolean): FieldError[] {
  const name = textAt(subject, 'name');
  const kind = textAt(subject, 'kind');
  const group = textAt(subject, 'apiGroup');
  const errors = name === '' ? [required(`${field}.name`)] : [];
  switch (kind) {
    case 'ServiceAccount':
      return [...errors, ...validateServiceAccount(field, subject, isNamespaced)];
    case 'User':
    case 'Group':
      return group === GROUP ? errors : [...errors, notSupported(`${field}.apiGroup`, group, [GROUP])];
    default:
      return [...errors, notSupported(`${field}.kind`, kind, SUBJECT_KINDS)];
  }
}

function validateServiceAccount(field: string, subject: JsonObject, isNamespaced: boolean): FieldError[] {
  const name = textAt(subject, 'name');
  const group = textAt(subject, 'apiGroup');
  const needsNamespace = !isNamespaced && textAt(subject, 'namespace') === '';
  return [
    ...(name === '' ? [] : problemsAt(`${field}.name`, name, dns1123SubdomainProblems(name))),
    ...(group === '' ? [] : [notSupported(`${field}.apiGroup`, group, [''])]),
    ...(needsNamespace ? [required(`${field}.namespace`)] : []),
  ];
}

function strategyFor(validate: (object: ApiObject) => FieldError[]): Strategy {
  const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
    ...validate(object),
    ...validateRoleRefChange('roleRef', object.roleRef, old.roleRef),
  ];
  return { applyDefaults, validate, validateUpdate, nameProblems: pathSegmentProblems, allowCreateOnUpdate: true };
}

function validateRoleRefChange(field: string, ref: unknown, old: unknown): FieldError[] {
  const isSame = ['apiGroup', 'kind', 'name'].every((name) => textAt(ref, name) === textAt(old, name));
  // upstream's error shows `roleRef` as a Go struct
  const shown = { APIGroup: textAt(ref, 'apiGroup'), Kind: textAt(ref, 'kind'), Name: textAt(ref, 'name') };
  return isSame ? [] : [invalidValue(field, shown, 'cannot change roleRef')];
}

export const ROLE_BINDING = strategyFor(validateWith(['Role', 'ClusterRole'], true));
export const CLUSTER_ROLE_BINDING = strategyFor(validateWith(['ClusterRole'], false));
