/** Match conditions: CEL expressions in webhooks and policies. They are not compiled, so invalid CEL is accepted. */
import { duplicate, type FieldError, required, tooMany } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, textAt } from '../values.ts';

const MAX_CONDITIONS = 64;

export function validateMatchConditions(field: string, conditions: readonly JsonObject[]): FieldError[] {
  const names = conditions.map((condition) => textAt(condition, 'name'));
  const isRepeated = repeats(names);
  const errors = conditions.flatMap((condition, index) => {
    const at = `${field}[${index}]`;
    const name = names[index]!;
    return [
      ...(textAt(condition, 'expression').trim() === '' ? [required(`${at}.expression`)] : []),
      ...(name === '' ? [required(`${at}.name`)] : problemsAt(`${at}.name`, name, qualifiedNameProblems(name))),
      ...(name !== '' && isRepeated[index] ? [duplicate(`${at}.name`, name)] : []),
    ];
  });
  return conditions.length > MAX_CONDITIONS ? [tooMany(field, conditions.length, MAX_CONDITIONS), ...errors] : errors;
}
