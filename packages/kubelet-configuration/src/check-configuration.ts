/** Validates a configuration like upstream (pkg/kubelet/apis/config/validation) and rejects values that this kubelet does not support. */
import { PodwrightError } from '@podwright/base';
import { formatDuration } from '@podwright/kube-api';
import { completeConfiguration } from './complete-configuration.ts';
import { refuseGate } from './feature-gates.ts';
import type { Field } from './fields/field.ts';
import { FIELDS, type FieldName, type KubeletConfiguration } from './fields/field-table.ts';
import type { GivenFields } from './given-fields.ts';
import { IMAGE_RULES } from './rules/image-rules.ts';
import { NODE_RULES } from './rules/node-rules.ts';
import { RESOURCE_RULES } from './rules/resource-rules.ts';
import type { HostFacts, Problem } from './rules/rule.ts';
import { SERVER_RULES } from './rules/server-rules.ts';

const MAX_PROBLEMS = 10;
const RULES = [...SERVER_RULES, ...IMAGE_RULES, ...NODE_RULES, ...RESOURCE_RULES];

/**
 * Returns the configuration with defaults filled in. Throws `invalid_argument`, naming the source, field and value of at most ten problems.
 */
export function checkedConfiguration(given: GivenFields, host: HostFacts): KubeletConfiguration {
  const configuration = completeConfiguration(given);
  const problems = [
    ...fieldProblems(configuration),
    ...RULES.flatMap((rule) => rule(configuration, host)),
    ...gateProblems(configuration),
    ...unhonoured(given),
  ];
  if (problems.length === 0) return configuration;
  const lines = problems.slice(0, MAX_PROBLEMS).map(({ field, message }) => `${named(field, given)}: ${message}`);
  throw new PodwrightError('invalid_argument', `configure the kubelet: ${lines.join('\n')}`);
}

/** Checks each field's value without regard to other fields. */
function fieldProblems(configuration: KubeletConfiguration): Problem[] {
  return [...FIELDS].flatMap(([name, { check = () => [] }]) => {
    const field = name as FieldName;
    return check(configuration[field]).map((message) => ({ field, message }));
  });
}

function gateProblems({ featureGates }: KubeletConfiguration): Problem[] {
  return Object.entries(featureGates).flatMap(([name, value]) => {
    const message = refuseGate(name, value);
    return message === undefined ? [] : [{ field: 'featureGates' as const, message }];
  });
}

/** Reports fields and flags that request features this kubelet does not have. */
function unhonoured(given: GivenFields): Problem[] {
  return [...given].flatMap(([name, { value }]) => {
    const effect = FIELDS.get(name)?.effect;
    if (effect?.kind !== 'only' || value === null || effect.allows(value)) return [];
    return [
      {
        field: name as FieldName,
        message: `is refused: ${effect.because}; leave it out, or set it to ${effect.values}`,
      },
    ];
  });
}

/** Describes a field for messages: `kubelet.yaml:7: port = 0`, `--port = 0`, or just its name if it was not given. */
function named(name: FieldName, given: GivenFields): string {
  const at = given.get(name);
  if (at === undefined || at.value === null) return name;
  const value = shownValue(FIELDS.get(name)!, at.value);
  return at.place.startsWith('--') ? `${at.place} = ${value}` : `${at.place}: ${name} = ${value}`;
}

function shownValue({ type }: Field, value: unknown): string {
  const text = type.name === 'duration' ? formatDuration(value as number) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
