import type { ApiObject } from '@podwright/kube-kinds';
import type { Amounts } from './resource-amounts.ts';

/** A requirement of a quota for the objects that it counts (ScopedResourceSelectorRequirement). */
export type QuotaScope = { name: string; operator: string; values: readonly string[] };

/** How the objects of one resource count for quotas. */
export type QuotaEvaluator = {
  /** Whether a quota's resource name, such as `requests.cpu`, is about these objects. */
  measures: (name: string) => boolean;
  /** What an object uses, by the names of quotas. */
  usageOf: (object: ApiObject, nowMs: number) => Amounts;
  /** Whether an object meets a requirement. */
  meets: (scope: QuotaScope, object: ApiObject) => boolean;
  /** Whether a write can change the usage. */
  handles: (write: { operation: string; subresource: string; object: ApiObject; oldObject?: ApiObject }) => boolean;
  /** Why an object without some amounts is rejected if a quota limits them; undefined if it has all of them. */
  missing?: (limited: readonly string[], object: ApiObject) => string | undefined;
};

/** Whether a value, undefined if absent, meets the operator and values of a requirement. */
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

/** An amount of whole objects. */
export const count = (number: number) => ({ nanos: BigInt(number) * 1_000_000_000n, like: '1' });
