import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { nonNegative, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { numberAt, textAt, valueAt, withValue } from '../values.ts';

const STRATEGIES = ['OldestEmulationVersion'];
/** Fields for coordinated leader election, which is off by default in 1.36. */
const COORDINATED = ['strategy', 'preferredHolder'];

export const leases: Strategy = {
  prepareForCreate: (object) => withoutUnused(object, undefined),
  prepareForUpdate: withoutUnused,
  validate: validateLease,
  validateUpdate: validateLease,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
};

/** Removes the fields for coordinated leader election unless they are set in the old lease. */
function withoutUnused(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const unused = COORDINATED.filter((field) => valueAt(old, 'spec', field) === undefined);
  return unused.reduce((lease, field) => withValue(lease, ['spec', field], undefined), object);
}

function validateLease(object: ApiObject): FieldError[] {
  const seconds = numberAt(object, 'spec', 'leaseDurationSeconds');
  const strategy = textAt(object, 'spec', 'strategy');
  const isStrategySet = valueAt(object, 'spec', 'strategy') !== undefined;
  const needsStrategy = textAt(object, 'spec', 'preferredHolder') !== '' && strategy === '';
  const duration = 'spec.leaseDurationSeconds';
  return [
    ...(seconds !== undefined && seconds <= 0 ? [invalidValue(duration, seconds, 'must be greater than 0')] : []),
    ...nonNegative('spec.leaseTransitions', numberAt(object, 'spec', 'leaseTransitions')),
    ...(isStrategySet ? validateStrategy('spec.strategy.strategy', strategy) : []),
    ...(needsStrategy
      ? [forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined')]
      : []),
  ];
}

const validateStrategy = (field: string, strategy: string): FieldError[] => {
  if (strategy.includes('/')) return problemsAt(field, strategy, qualifiedNameProblems(strategy));
  return STRATEGIES.includes(strategy) ? [] : [notSupported(field, strategy, STRATEGIES)];
};
