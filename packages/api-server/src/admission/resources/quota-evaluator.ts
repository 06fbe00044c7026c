import type { ApiObject } from '@podwright/kube-kinds';
import type { Amounts } from './resource-amounts.ts';

/** A quota's scope requirement, which selects the objects it applies to (ScopedResourceSelectorRequirement). */
export type QuotaScope = { name: string; operator: string; values: readonly string[] };

/** Evaluates how the objects of one resource count against quotas. */
export type QuotaEvaluator = {
  /** Whether this evaluator measures a quota's resource name, such as `requests.cpu`. */
  measures: (name: string) => boolean;
  /** Returns an object's usage by quota resource name. */
  usageOf: (object: ApiObject, nowMs: number) => Amounts;
  /** Whether an object meets a quota's scope requirement. */
  meets: (scope: QuotaScope, object: ApiObject) => boolean;
  /** Whether a write can change an object's usage. */
  handles: (write: { operation: string; subresource: string; object: ApiObject; oldObject?: ApiObject }) => boolean;
  /** Returns why the object is rejected for not setting all of the limited amounts, or `undefined` if it sets them. */
  missing?: (limited: readonly string[], object: ApiObject) => string | undefined;
};

/** Whether a value satisfies a scope requirement's operator and values. `undefined`: the value is absent. */
export function meetsValue({ operator, values }: QuotaScope, value: string | undefined): boolean {
  switch (operator) {
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    default:
      return false;
  }
}

/** Converts a number of objects to a quota amount. */
export const count = (number: number) => ({ nanos: BigInt(number) * 1_000_000_000n, like: '1' });
