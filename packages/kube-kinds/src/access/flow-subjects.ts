import { type FieldError, forbiddenField, notSupported, required } from '../field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, objectAt, textAt } from '../values.ts';

const KINDS = ['Group', 'ServiceAccount', 'User'];
/** The field that belongs to each kind of subject, in the order in which upstream rejects fields of other kinds. */
const FIELDS: readonly (readonly [kind: string, field: string])[] = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
];

/** Validates a subject of a flow schema rule. */
export function validateFlowSubject(field: string, subject: JsonObject): FieldError[] {
  const kind = textAt(subject, 'kind');
  const own = FIELDS.find(([name]) => name === kind)?.[1];
  if (own === undefined) return [notSupported(`${field}.kind`, kind, KINDS)];
  const value = objectAt(subject, own);
  const errors =
    value === undefined
      ? [required(`${field}.${own}`, `${own} is required when subject kind is '${kind}'`)]
      : validateName(`${field}.${own}`, value, kind);
  const others = FIELDS.filter(([, name]) => name !== own && objectAt(subject, name) !== undefined);
  const forbidden = others.map(([otherKind, name]) =>
    forbiddenField(`${field}.${name}`, `${name} is forbidden when subject kind is not '${otherKind}'`),
  );
  return [...errors, ...forbidden];
}

function validateName(field: string, subject: JsonObject, kind: string): FieldError[] {
  const name = textAt(subject, 'name');
  const missing = name === '' ? [required(`${field}.name`)] : [];
  if (kind !== 'ServiceAccount') return missing;
  const namespace = textAt(subject, 'namespace');
  const none = required(`${field}.namespace`, 'must specify namespace for service account');
  const wrongName = name === '' || name === '*' ? [] : dns1123SubdomainProblems(name);
  return [
    ...missing,
    ...problemsAt(`${field}.name`, name, wrongName),
    ...(namespace === '' ? [none] : problemsAt(`${field}.namespace`, namespace, dns1123LabelProblems(namespace))),
  ];
}
