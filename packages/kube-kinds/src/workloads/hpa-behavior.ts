/** The scaling rates of a HorizontalPodAutoscaler (`behavior`). */
import { compareQuantities } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';

const MAX_PERIOD_SECONDS = 1800;
const MAX_STABILIZATION_SECONDS = 3600;
const PERIOD_SECONDS = 15;
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];

const PERCENT = { type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS };
const PODS = { type: 'Pods', value: 4, periodSeconds: PERIOD_SECONDS };
const SCALE_UP = { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [PODS, PERCENT] };
const SCALE_DOWN = { selectPolicy: 'Max', policies: [PERCENT] };

/** Sets the defaults of a behavior, which always include rules for scaling up and for scaling down. */
export const defaultBehavior = (behavior: JsonObject): JsonObject => ({
  ...behavior,
  scaleUp: { ...SCALE_UP, ...objectAt(behavior, 'scaleUp') },
  scaleDown: { ...SCALE_DOWN, ...objectAt(behavior, 'scaleDown') },
});

export function validateBehavior(behavior: JsonObject | undefined, field: Field): void {
  for (const name of ['scaleUp', 'scaleDown']) {
    const rules = objectAt(behavior, name);
    if (rules !== undefined) validateRules(rules, field.at(name));
  }
}

function validateRules(rules: JsonObject, field: Field): void {
  const window = numberAt(rules, 'stabilizationWindowSeconds') ?? 0;
  const at = field.at('stabilizationWindowSeconds');
  if (window < 0) at.invalid(window, 'must be greater than or equal to zero');
  if (window > MAX_STABILIZATION_SECONDS)
    at.invalid(window, `must be less than or equal to ${MAX_STABILIZATION_SECONDS}`);
  const select = textAt(rules, 'selectPolicy');
  if (valueAt(rules, 'selectPolicy') !== undefined && !SELECT_POLICIES.includes(select))
    field.at('selectPolicy').notSupported(select, SELECT_POLICIES);
  const policies = objectsAt(rules, 'policies');
  if (policies.length === 0) field.at('policies').required('must specify at least one Policy');
  for (const [index, policy] of policies.entries()) validatePolicy(policy, field.at('policies', index));
  const tolerance = textAt(rules, 'tolerance');
  if (tolerance !== '' && compareQuantities(tolerance, '0') < 0)
    field.at('tolerance').invalid(tolerance, 'must be greater than or equal to 0');
}

function validatePolicy(policy: JsonObject, field: Field): void {
  const type = textAt(policy, 'type');
  const value = numberAt(policy, 'value') ?? 0;
  const period = numberAt(policy, 'periodSeconds') ?? 0;
  if (!POLICY_TYPES.includes(type)) field.at('type').notSupported(type, POLICY_TYPES);
  field.at('value').positive(value);
  field.at('periodSeconds').positive(period);
  if (period > MAX_PERIOD_SECONDS)
    field.at('periodSeconds').invalid(period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
}
