import { compileConditions, expressionError, policyFunctions } from '@podwright/admission-policies';
import { type ApiObject, type FieldError, isSameValue, objectsAt } from '@podwright/kube-kinds';

/**
 * Returns errors for match conditions that do not compile. `old` is the configuration before an update; if the match conditions are
 * unchanged, there are no errors.
 */
export function webhookErrors(configuration: ApiObject, old?: ApiObject): FieldError[] {
  const conditions = (one: ApiObject) =>
    objectsAt(one, 'webhooks').map((webhook) => objectsAt(webhook, 'matchConditions'));
  const given = conditions(configuration);
  if (old !== undefined && isSameValue(given, conditions(old))) return [];
  const functions = policyFunctions();
  return given.flatMap((list, webhook) =>
    compileConditions(list, functions).flatMap((one, index) =>
      expressionError(`webhooks[${webhook}].matchConditions[${index}].expression`, one),
    ),
  );
}
