/** The resources matched by a policy, and its parameters. */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { validateLabelSelector } from '../labels.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt, valueAt, withItems } from '../values.ts';
import { validateNamedRule, withScope } from './admission-rules.ts';

const MATCH_POLICIES = ['Equivalent', 'Exact'];
const ACTIONS = ['Deny', 'Allow'];
const RULE_LISTS = ['resourceRules', 'excludeResourceRules'];
/** Operations allowed in mutating policies. Excludes DELETE because it has no object to mutate. */
const MUTATING_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

export function withMatchDefaults(match: JsonObject): JsonObject {
  const filled = {
    ...match,
    matchPolicy: match.matchPolicy ?? 'Equivalent',
    namespaceSelector: match.namespaceSelector ?? {},
    objectSelector: match.objectSelector ?? {},
  };
  return RULE_LISTS.reduce<JsonObject>((result, name) => withItems(result, [name], withScope), filled);
}

/** Validates the optional match resources. */
export function validateMatchResources(field: string, match: unknown): FieldError[] {
  if (objectAt(match) === undefined) return [];
  const policy = valueAt(match, 'matchPolicy');
  const isKnown = policy === undefined || MATCH_POLICIES.includes(String(policy));
  const rules = RULE_LISTS.flatMap((name) =>
    objectsAt(match, name).flatMap((rule, index) => validateNamedRule(`${field}.${name}[${index}]`, rule)),
  );
  return [
    ...(policy === undefined ? [required(`${field}.matchPolicy`)] : []),
    ...(isKnown ? [] : [notSupported(`${field}.matchPolicy`, policy, MATCH_POLICIES)]),
    ...['namespaceSelector', 'objectSelector'].flatMap((name) => {
      const selector = objectAt(match, name);
      const at = `${field}.${name}`;
      return selector === undefined ? [required(at)] : validateLabelSelector(at, selector);
    }),
    ...rules,
  ];
}

export const validateMutatingOperations = (field: string, match: unknown): FieldError[] =>
  objectsAt(match, 'resourceRules')
    .flatMap((rule) => textsAt(rule, 'operations'))
    .filter((operation) => !MUTATING_OPERATIONS.includes(operation))
    .map((operation) => notSupported(`${field}.resourceRules.operations`, operation, MUTATING_OPERATIONS));

/** Validates a policy's optional `paramKind`. */
export function validateParamKind(field: string, kind: unknown): FieldError[] {
  if (objectAt(kind) === undefined) return [];
  const name = textAt(kind, 'kind');
  const problems = dns1035LabelProblems(name.toLowerCase()).join(',');
  const mixed = `may have mixed case, but should otherwise match: ${problems}`;
  return [
    ...validateApiVersion(`${field}.apiVersion`, textAt(kind, 'apiVersion')),
    ...(name === '' ? [required(`${field}.kind`)] : []),
    ...(name === '' || problems === '' ? [] : [invalidValue(`${field}.kind`, name, mixed)]),
  ];
}

function validateApiVersion(field: string, text: string): FieldError[] {
  if (text === '') return [required(field)];
  const parts = text === '/' ? [''] : text.split('/', 3);
  if (parts.length > 2) return [invalidValue(field, text, `unexpected GroupVersion string: ${text}`)];
  const [group, version] = parts.length === 1 ? ['', parts[0]!] : [parts[0]!, parts[1]!];
  const groupProblems = group === '' ? '' : dns1123SubdomainProblems(group).join(',');
  const versionProblems = dns1035LabelProblems(version).join(',');
  const wrongVersion =
    version === ''
      ? [invalidValue(field, text, 'version must be specified')]
      : versionProblems === ''
        ? []
        : [invalidValue(field, version, versionProblems)];
  return [...(groupProblems === '' ? [] : [invalidValue(field, group, groupProblems)]), ...wrongVersion];
}

/** Validates a binding's optional `paramRef`. */
export function validateParamRef(field: string, ref: unknown): FieldError[] {
  if (objectAt(ref) === undefined) return [];
  const name = textAt(ref, 'name');
  const selector = objectAt(ref, 'selector');
  const isBoth = name !== '' && selector !== undefined;
  const isNone = name === '' && selector === undefined;
  const exclusive = 'name and selector are mutually exclusive';
  return [
    ...problemsAt(`${field}.name`, name, pathSegmentProblems(name)),
    ...(isBoth ? [forbiddenField(`${field}.name`, exclusive)] : []),
    ...validateLabelSelector(`${field}.selector`, selector),
    ...(isBoth ? [forbiddenField(`${field}.selector`, exclusive)] : []),
    ...(isNone ? [required(field, 'one of name or selector must be specified')] : []),
    ...validateAction(`${field}.parameterNotFoundAction`, textAt(ref, 'parameterNotFoundAction')),
  ];
}

function validateAction(field: string, action: string): FieldError[] {
  if (action === '') return [required(field)];
  return ACTIONS.includes(action) ? [] : [notSupported(field, action, ACTIONS)];
}
