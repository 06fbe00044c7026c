/** JSON paths of printer columns, scales and selectable fields (client-go, util/jsonpath), limited to the syntax used by definitions. */

type Step =
  | { kind: 'field'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | { kind: 'filter'; path: readonly string[]; operator: string; value: unknown };

const MAX_LENGTH = 1000;

/** Returns a function that finds the values at a path, or `undefined` if the path is not supported. */
export function jsonPath(text: string): ((object: unknown) => unknown[]) | undefined {
  const steps = text.length > MAX_LENGTH ? undefined : stepsOf(text);
  return (
    steps && ((object) => steps.reduce<unknown[]>((values, step) => values.flatMap((one) => take(one, step)), [object]))
  );
}

const STEP =
  /^(?:\.(?<name>(?:\\.|[\w$-]|\/)+)|\[(?<index>-?\d+)\]|(?:\.\*|\[\*\])(?<all>)|\['(?<quoted>(?:\\.|[^'\\])+)'\]|\[\?\(\s*@(?<path>(?:\.[\w-]+)+)\s*(?<operator>==|!=)\s*(?<value>"[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false)\s*\)\])/;

function stepsOf(text: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let rest = text; rest !== '' && rest !== '.'; ) {
    const found = STEP.exec(rest);
    if (found === null) return undefined;
    steps.push(stepOf(found.groups ?? {}));
    rest = rest.slice(found[0].length);
  }
  return steps;
}

function stepOf({ name, quoted, index, path, operator, value }: Record<string, string | undefined>): Step {
  const field = name ?? quoted;
  if (field !== undefined) return { kind: 'field', name: field.replaceAll(/\\(.)/g, '$1') };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  if (path === undefined) return { kind: 'all' };
  const literal = value!.startsWith("'") ? value!.slice(1, -1) : (JSON.parse(value!) as unknown);
  return { kind: 'filter', path: path.slice(1).split('.'), operator: operator!, value: literal };
}

function take(value: unknown, step: Step): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  switch (step.kind) {
    case 'field':
      return !Array.isArray(value) && Object.hasOwn(value, step.name)
        ? [(value as Record<string, unknown>)[step.name]]
        : [];
    case 'index':
      return Array.isArray(value) ? value.slice(step.index).slice(0, 1) : [];
    case 'all':
      return Object.values(value);
    case 'filter':
      return Object.values(value).filter((one) => {
        const found = step.path.reduce<unknown>(
          (at, name) => (at as Record<string, unknown> | undefined | null)?.[name],
          one,
        );
        return step.operator === '==' ? found === step.value : found !== undefined && found !== step.value;
      });
  }
}
