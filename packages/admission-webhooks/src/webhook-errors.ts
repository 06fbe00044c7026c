import { compileConditions, expressionError, policyFunctions } from '@podwright/admission-policies';
import { type ApiObject, type FieldError, isSameValue, objectsAt } from '@podwright/kube-kinds';

/**
 * Returns the errors of the match conditions of a webhook configuration. `old`: the configuration before an update. Conditions that the update
 * does not change are not checked again.
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
