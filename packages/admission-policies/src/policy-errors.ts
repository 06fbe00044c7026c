/** The errors of expressions in a new or changed policy (kubernetes, apis/admissionregistration/validation). */
import {
  type ApiObject,
  type FieldError,
  forbiddenField,
  invalidValue,
  isSameValue,
  objectsAt,
  textAt,
} from '@podwright/kube-kinds';
import { compilePolicy } from './compiled-policy.ts';
import type { CompiledExpression } from './policy-environment.ts';

/** Maximum number of characters of all expressions of a policy together, which bounds the time to compile them. */
const MAX_LENGTH = 300_000;

const lengthOf = (one: object): number =>
  textAt(one, 'expression').length + textAt(one, 'messageExpression').length + textAt(one, 'valueExpression').length;

/** Returns the errors of a policy's expressions. `old`: the policy before an update, whose expressions are not checked again. */
export function policyErrors(policy: ApiObject, old?: ApiObject): FieldError[] {
  if (old !== undefined && isSameValue(policy.spec, old.spec)) return [];
  const length = ['matchConditions', 'variables', 'validations', 'auditAnnotations']
    .flatMap((list) => objectsAt(policy, 'spec', list))
    .reduce((total, one) => total + lengthOf(one), 0);
  if (length > MAX_LENGTH)
    return [forbiddenField('spec', `expressions must have at most ${MAX_LENGTH} characters together`)];
  const { conditions, variables, validations, annotations } = compilePolicy(policy);
  return [
    ...conditions.flatMap((one, index) => errorOf(`spec.matchConditions[${index}].expression`, one)),
    ...[...variables.values()].flatMap((one, index) => errorOf(`spec.variables[${index}].expression`, one)),
    ...validations.flatMap(({ expression, messageExpression }, index) => [
      ...errorOf(`spec.validations[${index}].expression`, expression),
      ...errorOf(`spec.validations[${index}].messageExpression`, messageExpression),
    ]),
    ...annotations.flatMap(({ value }, index) => errorOf(`spec.auditAnnotations[${index}].valueExpression`, value)),
  ];
}

/** Returns the error of an expression. Empty expressions are left out, because other checks report them. */
function errorOf(field: string, compiled: CompiledExpression | undefined): FieldError[] {
  if (compiled === undefined || compiled.text.trim() === '' || !('problem' in compiled)) return [];
  return [invalidValue(field, compiled.text, compiled.problem)];
}
