import { isQuantity, parseQuantity } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, required } from '../field-error.ts';
import { validateLabels } from '../labels.ts';
import { isHugePages, validateAmount, validateContainerResourceName } from '../resource-names.ts';
import { immutable, isDnsLabel } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { objectAt, objectsAt, textAt, textEntriesAt } from '../values.ts';
import { withRoundedAmounts } from './status.ts';
import { validateUniqueTolerations } from './taints.ts';

const NANOS_PER_UNIT = 1_000_000_000n;

/** Deprecated node labels, and what to use instead. */
const DEPRECATED_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

export const runtimeClasses: Strategy = {
  applyDefaults: (object) => withRoundedAmounts(object, ['overhead', 'podFixed']),
  validate: validateClass,
  validateUpdate: (object, old) => [
    ...validateClass(object),
    ...immutable('handler', textAt(object, 'handler'), textAt(old, 'handler')),
  ],
  warnings: (object) =>
    textEntriesAt(object, 'scheduling', 'nodeSelector')
      .filter(([label]) => Object.hasOwn(DEPRECATED_LABELS, label))
      .map(([label]) => `scheduling.nodeSelector: ${DEPRECATED_LABELS[label]}`),
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
};

function validateClass(object: ApiObject): FieldError[] {
  const handler = textAt(object, 'handler');
  return [
    ...(handler === '' ? [required('handler')] : isDnsLabel('handler', handler)),
    ...validateOverhead(textEntriesAt(object, 'overhead', 'podFixed')),
    ...validateLabels('scheduling.nodeSelector', objectAt(object, 'scheduling', 'nodeSelector')),
    ...validateUniqueTolerations('scheduling.tolerations', objectsAt(object, 'scheduling', 'tolerations')),
  ];
}

/** Validates the overhead, using the rules for container limits, so that errors say `limits`. */
function validateOverhead(amounts: readonly [name: string, amount: string][]): FieldError[] {
  const errors = amounts.flatMap(([name, amount]) => {
    const field = `overhead.limits[${name}]`;
    return [
      ...validateContainerResourceName(field, name),
      ...validateAmount(field, name, amount),
      ...(isHugePages(name) ? validatePageSize(field, name, amount) : []),
    ];
  });
  const names = amounts.map(([name]) => name);
  const lacksBasis = names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory');
  return lacksBasis ? [...errors, forbiddenField('overhead', 'HugePages require cpu or memory')] : errors;
}

function validatePageSize(field: string, name: string, amount: string): FieldError[] {
  const size = name.slice('hugepages-'.length);
  const page = isQuantity(size) ? parseQuantity(size).nanos : 0n;
  const isMultiple = page > 0n && page % NANOS_PER_UNIT === 0n && parseQuantity(amount).nanos % page === 0n;
  return isMultiple ? [] : [invalidValue(field, amount, `${amount} is not positive integer multiple of ${name}`)];
}
