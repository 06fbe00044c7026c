import type { Field } from '../field.ts';
import { parseInt64 } from '../int64.ts';
import { labelValueProblems, qualifiedNameProblems } from '../names.ts';
import { type JsonObject, numberAt, textAt } from '../values.ts';
import type { PodOptions } from './options.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const EMPTY_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

/** Validates tolerations (ValidateTolerations). */
export function validateTolerations(tolerations: readonly JsonObject[], field: Field, options: PodOptions): void {
  for (const [index, toleration] of tolerations.entries()) {
    const at = field.at(index);
    const key = textAt(toleration, 'key');
    const operator = textAt(toleration, 'operator');
    const effect = textAt(toleration, 'effect');
    if (key !== '') at.at('key').invalidEach(key, qualifiedNameProblems(key));
    if (key === '' && operator !== 'Exists') at.at('operator').invalid(operator, EMPTY_KEY);
    if (numberAt(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute')
      at.at('effect').invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    validateOperator(operator, textAt(toleration, 'value'), { field: at, options });
    if (effect !== '' && !EFFECTS.includes(effect)) at.at('effect').notSupported(effect, EFFECTS);
  }
}

function validateOperator(
  operator: string,
  value: string,
  { field, options }: { field: Field; options: PodOptions },
): void {
  const at = field.at('operator');
  switch (operator) {
    case 'Equal':
    case '': {
      const problems = labelValueProblems(value);
      if (problems.length > 0) at.invalid(value, problems.join(';'));
      return;
    }
    case 'Exists':
      if (value !== '') at.invalid(value, "value must be empty when `operator` is 'Exists'");
      return;
    case 'Lt':
    case 'Gt':
      if (!options.allowComparisonTolerations) return at.notSupported(operator, ['Equal', 'Exists', 'Lt', 'Gt']);
      return validateInteger(value, field.at('value'));
    default:
      return at.notSupported(operator, ['Equal', 'Exists']);
  }
}

function validateInteger(value: string, field: Field): void {
  if (value === '') field.invalid(value, 'must be non-empty');
  else if (!/^(0|-?[1-9][0-9]*)$/.test(value))
    field.invalid(value, 'must be a valid decimal integer in canonical form');
  const read = parseInt64(value);
  if (typeof read === 'string') field.invalid(value, read);
}
