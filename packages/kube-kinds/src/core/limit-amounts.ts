/** Compares the amounts in a LimitRangeItem. */
import { compareQuantities, parseQuantity } from '@podwright/kube-api';
import { type FieldError, invalidValue } from '../field-error.ts';
import { isOvercommitAllowed } from '../resource-names.ts';
import { type JsonObject, textEntriesAt } from '../values.ts';

type Amounts = {
  min?: string;
  max?: string;
  default?: string;
  defaultRequest?: string;
  maxLimitRequestRatio?: string;
};

const LISTS = ['min', 'max', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** Validates the amounts of each resource in a LimitRangeItem, in lexical order of the resource names. */
export function validateLimitAmounts(field: string, limit: JsonObject): FieldError[] {
  const byName = new Map<string, Amounts>();
  for (const list of LISTS)
    for (const [name, amount] of textEntriesAt(limit, list)) byName.set(name, { ...byName.get(name), [list]: amount });
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([name, amounts]) => [
    ...validateOrder(field, name, amounts),
    ...validateRatio(`${field}.maxLimitRequestRatio[${name}]`, amounts),
    ...validateEqual(`${field}.defaultRequest[${name}]`, name, amounts),
  ]);
}

/**
 * A rule that one amount must not exceed another: the two amounts, their names in messages, and the list and amount to show in the error.
 */
type Order = readonly [
  lower: keyof Amounts,
  upper: keyof Amounts,
  words: { lower: string; upper: string; list: keyof Amounts; shown: keyof Amounts },
];

const ORDERS: readonly Order[] = [
  ['min', 'max', { lower: 'min', upper: 'max', list: 'min', shown: 'min' }],
  [
    'min',
    'defaultRequest',
    { lower: 'min', upper: 'default request', list: 'defaultRequest', shown: 'defaultRequest' },
  ],
  [
    'defaultRequest',
    'max',
    { lower: 'default request', upper: 'max', list: 'defaultRequest', shown: 'defaultRequest' },
  ],
  [
    'defaultRequest',
    'default',
    { lower: 'default request', upper: 'default limit', list: 'defaultRequest', shown: 'defaultRequest' },
  ],
  ['min', 'default', { lower: 'min', upper: 'default', list: 'default', shown: 'min' }],
  ['default', 'max', { lower: 'default', upper: 'max', list: 'default', shown: 'max' }],
];

function validateOrder(field: string, name: string, amounts: Amounts): FieldError[] {
  return ORDERS.flatMap(([lower, upper, words]) => {
    const [low, high] = [amounts[lower], amounts[upper]];
    if (low === undefined || high === undefined || compareQuantities(low, high) <= 0) return [];
    const detail = `${words.lower} value ${low} is greater than ${words.upper} value ${high}`;
    return [invalidValue(`${field}.${words.list}[${name}]`, amounts[words.shown], detail)];
  });
}

function validateRatio(field: string, { min, max, maxLimitRequestRatio: ratio }: Amounts): FieldError[] {
  if (ratio === undefined) return [];
  const errors = compareQuantities(ratio, '1') < 0 ? [invalidValue(field, ratio, `ratio ${ratio} is less than 1`)] : [];
  if (min === undefined || max === undefined) return errors;
  const bound = Number(parseQuantity(max).nanos) / Number(parseQuantity(min).nanos);
  if (Number(parseQuantity(ratio).nanos) / 1e9 > bound)
    errors.push(invalidValue(field, ratio, `ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`));
  return errors;
}

/** Requires the default limit and the default request to be equal for resources that cannot be overcommitted. */
function validateEqual(
  field: string,
  name: string,
  { default: limit, defaultRequest: request }: Amounts,
): FieldError[] {
  const isFree = limit === undefined || request === undefined || isOvercommitAllowed(name);
  if (isFree || compareQuantities(limit, request) === 0) return [];
  const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
  return [invalidValue(field, request, detail)];
}
