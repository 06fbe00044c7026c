import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../values.ts';
import { countOrPercent, validateAtMost100Percent, validateCountOrPercent } from './workload-spec.ts';

/** Validates the update strategy of a StatefulSet. */
export function validateStatefulStrategy(strategy: JsonObject, field: Field): void {
  const type = textAt(strategy, 'type');
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  if (type === '') return field.required();
  if (type === 'RollingUpdate') {
    if (rollingUpdate !== undefined) validateRollingUpdate(rollingUpdate, field.at('rollingUpdate'));
  } else if (type !== 'OnDelete') {
    // upstream's error prints the value as a Go struct
    field.invalid({ Type: type, RollingUpdate: shown(rollingUpdate) }, "must be 'RollingUpdate' or 'OnDelete'");
  } else if (rollingUpdate !== undefined)
    field.at('rollingUpdate').invalid(shown(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'");
}

const shown = (rollingUpdate: JsonObject | undefined): JsonObject | null =>
  rollingUpdate === undefined
    ? null
    : { Partition: numberAt(rollingUpdate, 'partition') ?? 0, MaxUnavailable: rollingUpdate.maxUnavailable ?? null };

function validateRollingUpdate({ partition, maxUnavailable }: JsonObject, field: Field): void {
  if (typeof partition === 'number') field.at('partition').notNegative(partition);
  if (maxUnavailable === undefined) return;
  const at = field.at('maxUnavailable');
  validateCountOrPercent(maxUnavailable, at);
  if (countOrPercent(maxUnavailable) === 0) at.invalid(maxUnavailable, 'cannot be 0');
  validateAtMost100Percent(maxUnavailable, at);
}
