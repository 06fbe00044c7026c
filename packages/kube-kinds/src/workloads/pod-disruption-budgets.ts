import type { ApiObject } from '../api-object.ts';
import { validateConditions } from '../conditions.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { validateLabelSelector } from '../labels.ts';
import type { Strategy } from '../strategy.ts';
import { pathSegmentProblems } from '../texts.ts';
import { objectAt, textAt, valueAt } from '../values.ts';
import { resetStatus, retainStatus, statusOnly, validateCounts } from './status-fields.ts';
import { validateAtMost100Percent, validateCountOrPercent } from './workload-spec.ts';

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];
const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];
const EMPTY_STATUS = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };

function validate(object: ApiObject, old?: ApiObject): FieldError[] {
  const root = new Field();
  const field = root.at('spec');
  const spec = objectAt(object, 'spec') ?? {};
  const { minAvailable, maxUnavailable } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    // upstream's error prints the value as a Go struct
    const shown = {
      MinAvailable: minAvailable,
      Selector: valueAt(spec, 'selector') ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: valueAt(spec, 'unhealthyPodEvictionPolicy') ?? null,
    };
    field.invalid(shown, 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const name of ['minAvailable', 'maxUnavailable']) {
    if (spec[name] === undefined) continue;
    validateCountOrPercent(spec[name], field.at(name));
    validateAtMost100Percent(spec[name], field.at(name));
  }
  const allowInvalidValues = validateLabelSelector('', valueAt(old, 'spec', 'selector')).length > 0;
  field.add(validateLabelSelector(field.at('selector').path, spec.selector, { allowInvalidValues }));
  const policy = textAt(spec, 'unhealthyPodEvictionPolicy');
  if (valueAt(spec, 'unhealthyPodEvictionPolicy') !== undefined && !EVICTION_POLICIES.includes(policy))
    field.at('unhealthyPodEvictionPolicy').notSupported(policy, EVICTION_POLICIES);
  return root.errors;
}

function validateStatus(object: ApiObject): FieldError[] {
  const field = new Field('status');
  const status = objectAt(object, 'status');
  field.add(validateConditions(field.at('conditions').path, valueAt(status, 'conditions')));
  validateCounts(status, COUNTS, field);
  return field.errors;
}

export const POD_DISRUPTION_BUDGETS: Strategy = {
  nameProblems: pathSegmentProblems, // upstream has no rule for the name
  prepareForCreate: (object) => resetStatus(object, EMPTY_STATUS),
  prepareForUpdate: retainStatus,
  validate: (object) => validate(object),
  validateUpdate: validate,
  subresources: { status: { prepareForUpdate: statusOnly, validateUpdate: validateStatus } },
  allowUnconditionalUpdate: false,
  hasGeneration: true,
};
