/** Checks of literals that run once the types are known (cel-go, cel/validator.go). */
import { LinearPattern } from '../patterns/linear-pattern.ts';
import type { Problem } from '../syntax/compile-error.ts';
import type { Expression } from '../syntax/expression.ts';
import { partsOf } from '../syntax/parser.ts';
import { type CelType, formatType, isSameType, unwrapOptional } from '../types/types.ts';
import { parseDuration, parseTimestamp } from '../values/times.ts';

type TypeOf = (expression: Expression) => CelType;

const succeeds = (run: () => unknown): boolean => {
  try {
    run();
    return true;
  } catch {
    return false;
  }
};

/** Functions whose literal argument is validated, each with a predicate for valid arguments. */
const CHECKED: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
  matches: (text) => succeeds(() => new LinearPattern(text)),
};

/** Returns the problems with literals: arguments that their function would reject, and lists and maps of mixed types. */
export function literalProblems(root: Expression, typeOf: TypeOf): Problem[] {
  const problems: Problem[] = [];
  const waiting: { expression: Expression; isFormat: boolean }[] = [{ expression: root, isFormat: false }];
  const seen = new Set<Expression>();
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const { expression, isFormat } = one;
    if (seen.has(expression)) continue;
    seen.add(expression);
    problems.push(...parameterProblems(expression), ...(isFormat ? [] : mixedProblems(expression, typeOf)));
    const isExempt = isFormat || (expression.kind === 'call' && expression.name === 'format');
    for (const part of partsOf(expression)) waiting.push({ expression: part, isFormat: isExempt });
  }
  return problems;
}

function parameterProblems(expression: Expression): Problem[] {
  if (expression.kind !== 'call' || !Object.hasOwn(CHECKED, expression.name)) return [];
  const { name, parameters } = expression;
  const last = parameters.at(-1);
  if (last?.kind !== 'literal' || typeof last.value !== 'string' || CHECKED[name]!(last.value)) return [];
  return [{ at: last.at, message: `invalid ${name} argument` }];
}

function mixedProblems(expression: Expression, typeOf: TypeOf): Problem[] {
  if (expression.kind === 'list') return mixed(expression.elements, typeOf);
  if (expression.kind !== 'map') return [];
  const keys = mixed(
    expression.entries.map(({ key }) => ({ value: key, isOptional: false })),
    typeOf,
  );
  return keys.length > 0 ? keys : mixed(expression.entries, typeOf);
}

function mixed(values: readonly { value: Expression; isOptional: boolean }[], typeOf: TypeOf): Problem[] {
  let known: CelType | undefined;
  for (const { value, isOptional } of values) {
    const whole = typeOf(value);
    const type = isOptional ? (unwrapOptional(whole) ?? whole) : whole;
    known ??= type;
    if (!isSameType(known, type))
      return [{ at: value.at, message: `expected type '${formatType(known)}' but found '${formatType(type)}'` }];
  }
  return [];
}
