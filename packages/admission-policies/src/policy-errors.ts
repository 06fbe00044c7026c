/** Errors in the expressions of a new or changed policy (kubernetes, apis/admissionregistration/validation). */
import { type ApiObject, type FieldError, forbiddenField, isSameValue, objectsAt, textAt } from '@podwright/kube-kinds';
import { compileMutations } from './compiled-mutations.ts';
import { compilePolicy } from './compiled-policy.ts';
import { expressionError } from './match-conditions.ts';
import type { CompiledExpression } from './policy-environment.ts';

/** Maximum total length of a policy's expressions in characters, which bounds the time to compile them. */
const MAX_LENGTH = 300_000;

const TEXTS = ['expression', 'messageExpression', 'valueExpression'];
const LISTS = ['matchConditions', 'variables', 'validations', 'auditAnnotations', 'mutations'];

/** Returns the total length of the expressions in a list item, such as a validation, variable or mutation. */
const lengthOf = (one: object): number =>
  TEXTS.reduce((total, name) => total + textAt(one, name).length, 0) +
  textAt(one, 'jsonPatch', 'expression').length +
  textAt(one, 'applyConfiguration', 'expression').length;

function lengthErrors(policy: ApiObject): FieldError[] {
  const length = LISTS.flatMap((list) => objectsAt(policy, 'spec', list)).reduce(
    (total, one) => total + lengthOf(one),
    0,
  );
  const detail = `expressions must have at most ${MAX_LENGTH} characters together`;
  return length > MAX_LENGTH ? [forbiddenField('spec', detail)] : [];
}

/** Returns the errors found by `check`. An unchanged spec is not checked, and one that is too long is rejected without compiling it. */
function unlessSameOrTooLong(
  policy: ApiObject,
  old: ApiObject | undefined,
  check: (policy: ApiObject) => FieldError[],
): FieldError[] {
  if (old !== undefined && isSameValue(policy.spec, old.spec)) return [];
  const tooLong = lengthErrors(policy);
  return tooLong.length > 0 ? tooLong : check(policy);
}

/**
 * Returns the errors in a validating policy's expressions. `old`: the policy before the update. A policy with an unchanged spec has none.
 */
export const policyErrors = (policy: ApiObject, old?: ApiObject): FieldError[] =>
  unlessSameOrTooLong(policy, old, validatingErrors);

function validatingErrors(policy: ApiObject): FieldError[] {
  const compiled = compilePolicy(policy);
  return [
    ...commonErrors(compiled),
    ...compiled.validations.flatMap(({ expression, messageExpression }, index) => [
      ...expressionError(`spec.validations[${index}].expression`, expression),
      ...expressionError(`spec.validations[${index}].messageExpression`, messageExpression),
    ]),
    ...compiled.annotations.flatMap(({ value }, index) =>
      expressionError(`spec.auditAnnotations[${index}].valueExpression`, value),
    ),
  ];
}

/** Returns the errors in a mutating policy's expressions. `old`: see `policyErrors`. */
export const mutationErrors = (policy: ApiObject, old?: ApiObject): FieldError[] =>
  unlessSameOrTooLong(policy, old, mutatingErrors);

function mutatingErrors(policy: ApiObject): FieldError[] {
  const compiled = compileMutations(policy);
  return [
    ...commonErrors(compiled),
    ...compiled.mutations.flatMap(({ type, expression }, index) => {
      const field = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
      return expressionError(`spec.mutations[${index}].${field}.expression`, expression);
    }),
  ];
}

type Common = {
  conditions: readonly CompiledExpression[];
  variables: ReadonlyMap<string, CompiledExpression>;
};

const commonErrors = ({ conditions, variables }: Common): FieldError[] => [
  ...conditions.flatMap((one, index) => expressionError(`spec.matchConditions[${index}].expression`, one)),
  ...[...variables.values()].flatMap((one, index) => expressionError(`spec.variables[${index}].expression`, one)),
];
