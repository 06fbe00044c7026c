/** Compiles the rules of definitions (apiextensions-apiserver, apis/apiextensions/validation). */
import {
  type ApiObject,
  type FieldError,
  forbiddenField,
  invalidValue,
  isSameValue,
  objectAt,
  objectsAt,
} from '@podwright/kube-kinds';
import { type JsonSchema, someSchema } from '../json-schema.ts';
import { type RuleNode, rulesOf, ruleTree, type ValidationRule } from './rule-tree.ts';

/** Maximum total length of a definition's expressions in characters, which bounds the time to compile them. */
const MAX_LENGTH = 300_000;

/** Returns the errors of CEL rules in a definition's schemas. Schemas unchanged by an update are not compiled again. */
export function definitionRuleErrors(definition: ApiObject, old?: ApiObject): FieldError[] {
  const schemas = schemasOf(definition);
  if (isSameValue(schemas, schemasOf(old))) return [];
  const length = schemas.reduce((total, schema) => total + (schema === undefined ? 0 : expressionLength(schema)), 0);
  if (length > MAX_LENGTH)
    return [forbiddenField('spec.versions', `rules in CEL must have at most ${MAX_LENGTH} characters together`)];
  const before = schemasOf(old);
  const isShared = schemas.every((schema) => isSameValue(schema, schemas[0]));
  return schemas.flatMap((schema, index) => {
    if (schema === undefined || before.some((one) => isSameValue(one, schema)) || (isShared && index > 0)) return [];
    const tree = ruleTree(schema);
    if (tree === undefined) return [];
    const at = isShared ? 'spec.validation' : `spec.versions[${index}].schema`;
    return nodeErrors(tree, { field: `${at}.openAPIV3Schema`, forbids: undefined });
  });
}

function expressionLength(schema: JsonSchema): number {
  let length = 0;
  someSchema(schema, (one) => {
    for (const { rule = '', messageExpression = '' } of rulesOf(one)) length += rule.length + messageExpression.length;
    return false;
  });
  return length;
}

const schemasOf = (definition: ApiObject | undefined): (JsonSchema | undefined)[] =>
  objectsAt(definition, 'spec', 'versions').map(
    (version) => objectAt(version, 'schema', 'openAPIV3Schema') as JsonSchema | undefined,
  );

/** `forbids`: path of the enclosing list that forbids `oldSelf` because its elements have no old state. */
type Place = { field: string; forbids: string | undefined };

function nodeErrors(
  { schema, values, rules, items, more, properties }: RuleNode,
  { field, forbids }: Place,
): FieldError[] {
  const isMap = schema['x-kubernetes-list-type'] === 'map';
  return [
    ...(more === undefined ? [] : nodeErrors(more, { field: `${field}.additionalProperties`, forbids })),
    ...[...properties].flatMap(([name, node]) => nodeErrors(node, { field: `${field}.properties[${name}]`, forbids })),
    ...(items === undefined ? [] : nodeErrors(items, { field: `${field}.items`, forbids: isMap ? forbids : field })),
    ...(rules.length > 0 && values === undefined ? [untyped(`${field}.x-kubernetes-validations`)] : []),
    ...rules.flatMap((rule, index) => {
      const at = `${field}.x-kubernetes-validations[${index}]`;
      const given = rulesOf(schema)[index];
      const uncorrelated = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${forbids}`;
      const optional = given?.optionalOldSelf;
      return [
        ...(rule.problem === undefined ? [] : [invalidValue(`${at}.rule`, shownRule(given), rule.problem)]),
        ...(rule.messageProblem === undefined
          ? []
          : [invalidValue(`${at}.messageExpression`, shownRule(given), rule.messageProblem)]),
        ...(rule.usesOldSelf && forbids !== undefined ? [invalidValue(`${at}.rule`, given?.rule, uncorrelated)] : []),
        ...(!rule.usesOldSelf && optional !== undefined
          ? [invalidValue(`${at}.optionalOldSelf`, optional, 'may not be set if oldSelf is not used in rule')]
          : []),
      ];
    }),
  ];
}

const untyped = (field: string): FieldError => ({
  reason: 'InternalError',
  field,
  message:
    'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
});

/** Returns a rule with the field names of upstream's Go struct, as printed in errors. */
const shownRule = (rule: ValidationRule = {}): object => ({
  Rule: rule.rule ?? '',
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});
