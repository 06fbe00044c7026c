/** Rules for APIServices that depend on what this server itself serves. */

import {
  type ApiObject,
  type FieldError,
  forbiddenField,
  objectAt,
  STRATEGIES,
  type Strategies,
} from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { API_SERVICES } from './aggregation/registration.ts';

/**
 * Returns the strategy for APIServices. Group versions of built-in kinds cannot be registered for extension API servers, because the node
 * components in this process would not see their objects.
 */
export function apiServiceStrategies(builtIn: readonly Resource[]): Strategies {
  const strategy = STRATEGIES[API_SERVICES]!;
  const own = new Set(builtIn.map(({ group, version }) => `${version}.${group}`));
  const errors = ({ metadata, ...object }: ApiObject): FieldError[] =>
    own.has(metadata.name ?? '') && objectAt(object, 'spec', 'service') !== undefined
      ? [forbiddenField('spec.service', 'this server serves the group version itself')]
      : [];
  return {
    [API_SERVICES]: {
      ...strategy,
      validate: (object) => [...(strategy.validate?.(object) ?? []), ...errors(object)],
      validateUpdate: (object, old) => [...(strategy.validateUpdate?.(object, old) ?? []), ...errors(object)],
    },
  };
}
