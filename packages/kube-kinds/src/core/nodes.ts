import { cidrWarnings } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import type { Strategy } from '../strategy.ts';
import { booleanAt, objectAt, textAt, textsAt, valueAt, withValue } from '../values.ts';
import { validateNode, validateNodeChange } from './node-validation.ts';
import { withRoundedAmounts, withStatusOf } from './status.ts';

export const nodes: Strategy = {
  applyDefaults: (object) => withAllocatable(withPodCidrs(object)),
  prepareForCreate: (object) =>
    withValue(withValue(object, ['spec', 'configSource'], undefined), ['status', 'config'], undefined),
  prepareForUpdate: (object, old) => {
    const isConfigured = valueAt(old, 'spec', 'configSource') !== undefined;
    return withStatusOf(isConfigured ? object : withValue(object, ['spec', 'configSource'], undefined), old);
  },
  validate: validateNode,
  validateUpdate: (object, old) => [...validateNode(object), ...validateNodeChange(object, old)],
  warnings: nodeWarnings,
  subresources: {
    status: {
      prepareForUpdate: (object, old) => {
        const changed = withValue(object, ['spec'], old.spec);
        const isConfigured = valueAt(old, 'status', 'config') !== undefined;
        return isConfigured ? changed : withValue(changed, ['status', 'config'], undefined);
      },
      validateUpdate: validateNodeChange,
    },
  },
  selectableFields: { 'spec.unschedulable': (object) => String(booleanAt(object, 'spec', 'unschedulable')) },
};

/** Makes `podCIDR` and `podCIDRs` consistent. `podCIDR` takes precedence, for old clients. */
function withPodCidrs(object: ApiObject): ApiObject {
  const single = textAt(object, 'spec', 'podCIDR');
  const several = textsAt(object, 'spec', 'podCIDRs');
  if (single === (several[0] ?? '')) return object;
  if (single !== '') return withValue(object, ['spec', 'podCIDRs'], [single]);
  return withValue(object, ['spec', 'podCIDR'], several[0]);
}

function withAllocatable(object: ApiObject): ApiObject {
  const rounded = withRoundedAmounts(withRoundedAmounts(object, ['status', 'capacity']), ['status', 'allocatable']);
  const capacity = objectAt(rounded, 'status', 'capacity');
  const isSet = objectAt(rounded, 'status', 'allocatable') !== undefined || capacity === undefined;
  return isSet ? rounded : withValue(rounded, ['status', 'allocatable'], capacity);
}

function nodeWarnings(object: ApiObject): string[] {
  const warnings: string[] = [];
  if (valueAt(object, 'spec', 'configSource') !== undefined) warnings.push('spec.configSource: the feature is removed');
  if (textAt(object, 'spec', 'externalID') !== '')
    warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  const cidrs = textsAt(object, 'spec', 'podCIDRs');
  return [...warnings, ...cidrs.flatMap((cidr, index) => cidrWarnings(`spec.podCIDRs[${index}]`, cidr))];
}
