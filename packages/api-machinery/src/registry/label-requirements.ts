type Labels = Readonly<Record<string, string>>;

export type LabelRequirement = { key: string; operator: LabelOperator; values: readonly string[] };

export type LabelOperator = 'in' | 'notin' | 'exists' | '!' | '>' | '<';

/** Whether labels meet all requirements. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Labels = {}): boolean {
  return requirements.every((one) => meets(one, Object.hasOwn(labels, one.key) ? labels[one.key] : undefined));
}

function meets({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    default: {
      if (value === undefined || !isInteger(value)) return false;
      const [one, other] = [BigInt(value), BigInt(values[0]!)];
      return operator === '>' ? one > other : one < other;
    }
  }
}

/** Whether the text is an integer, as required by the operators `>` and `<`. */
export const isInteger = (text: string): boolean => /^[+-]?\d{1,19}$/.test(text);
