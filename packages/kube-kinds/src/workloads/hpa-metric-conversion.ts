/** Converts metrics between autoscaling/v2 and the form in autoscaling/v1 annotations. */
import { isQuantity, parseQuantity } from '@podwright/kube-api';
import { isObject, type JsonObject, objectAt, textAt, valueAt } from '../values.ts';
import { type Convert, metricOf, present, reference, SOURCES } from './hpa-metric-parts.ts';
import { FROM_V1_STATUS, TO_V1_STATUS } from './hpa-metric-status.ts';

const TO_V1_SPEC: Convert = {
  object: ({ describedObject, metric, target }) =>
    present({
      target: reference(describedObject),
      metricName: textAt(metric, 'name'),
      targetValue: textAt(target, 'value') || '0',
      selector: valueAt(metric, 'selector'),
      averageValue: valueAt(target, 'averageValue'),
    }),
  pods: ({ metric, target }) =>
    present({
      metricName: textAt(metric, 'name'),
      targetAverageValue: textAt(target, 'averageValue') || '0',
      selector: valueAt(metric, 'selector'),
    }),
  resource: resourceToV1,
  containerResource: (source) => ({ ...resourceToV1(source), container: textAt(source, 'container') }),
  external: ({ metric, target }) =>
    present({
      metricName: textAt(metric, 'name'),
      metricSelector: valueAt(metric, 'selector'),
      targetValue: valueAt(target, 'value'),
      targetAverageValue: valueAt(target, 'averageValue'),
    }),
};

function resourceToV1({ name, target }: JsonObject): JsonObject {
  return present({
    name,
    targetAverageUtilization: valueAt(target, 'averageUtilization'),
    targetAverageValue: valueAt(target, 'averageValue'),
  });
}

const FROM_V1_SPEC: Convert = {
  object: (source) => {
    const averageValue = valueAt(source, 'averageValue');
    const value = textAt(source, 'targetValue') || '0';
    const isZero = parseQuantity(value).nanos === 0n;
    const target =
      averageValue === undefined
        ? { type: 'Value', value }
        : present({ type: 'AverageValue', value: isZero ? undefined : value, averageValue });
    return { describedObject: reference(valueAt(source, 'target')), target, metric: metricOf(source, 'selector') };
  },
  pods: (source) => ({
    metric: metricOf(source, 'selector'),
    target: { type: 'AverageValue', averageValue: textAt(source, 'targetAverageValue') || '0' },
  }),
  resource: resourceFromV1,
  containerResource: (source) => ({ ...resourceFromV1(source), container: textAt(source, 'container') }),
  external: (source) => {
    const value = valueAt(source, 'targetValue');
    const averageValue = valueAt(source, 'targetAverageValue');
    const type = value === undefined ? 'AverageValue' : 'Value';
    return { metric: metricOf(source, 'metricSelector'), target: present({ type, value, averageValue }) };
  },
};

function resourceFromV1(source: JsonObject): JsonObject {
  const averageUtilization = valueAt(source, 'targetAverageUtilization');
  const averageValue = valueAt(source, 'targetAverageValue');
  const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
  return { name: textAt(source, 'name'), target: present({ type, averageValue, averageUtilization }) };
}

function convert(metric: JsonObject, rules: Convert): JsonObject {
  const sources = SOURCES.flatMap((name) => {
    const source = objectAt(metric, name);
    return source === undefined ? [] : [[name, rules[name](source)] as const];
  });
  return { type: textAt(metric, 'type'), ...Object.fromEntries(sources) };
}

export const metricToV1 = (metric: JsonObject): JsonObject => convert(metric, TO_V1_SPEC);
export const metricStatusToV1 = (metric: JsonObject): JsonObject => convert(metric, TO_V1_STATUS);

/** Returns the metrics in an annotation. As in Go, an annotation containing a value of the wrong type is treated as absent. */
export const metricsFromV1 = (value: unknown): JsonObject[] | undefined => listFrom(value, FROM_V1_SPEC);
export const metricStatusesFromV1 = (value: unknown): JsonObject[] | undefined => listFrom(value, FROM_V1_STATUS);

function listFrom(value: unknown, rules: Convert): JsonObject[] | undefined {
  if (!Array.isArray(value) || !value.every((metric) => isObject(metric) && hasRightTypes(metric))) return undefined;
  return value.map((metric) => convert(metric, rules));
}

const QUANTITY = /Value$/;
const NUMBER = /Utilization$/;
const TEXT = /^(name|metricName|container|kind|apiVersion|type)$/;

function hasRightTypes(metric: JsonObject): boolean {
  return Object.entries(metric).every(([name, value]) => {
    if (value === null) return true;
    if (QUANTITY.test(name)) return typeof value === 'string' && isQuantity(value);
    if (NUMBER.test(name)) return typeof value === 'number' && (value | 0) === value;
    if (TEXT.test(name)) return typeof value === 'string';
    if (!isObject(value)) return false;
    return name.toLowerCase().endsWith('selector') ? isSelector(value) : hasRightTypes(value);
  });
}

const isText = (value: unknown): boolean => typeof value === 'string';

const isSelector = ({ matchLabels = {}, matchExpressions = [] }: JsonObject): boolean =>
  isObject(matchLabels) &&
  Object.values(matchLabels).every(isText) &&
  Array.isArray(matchExpressions) &&
  matchExpressions.every(
    (one) =>
      isObject(one) &&
      isText(one.key) &&
      isText(one.operator) &&
      (one.values === undefined || (Array.isArray(one.values) && one.values.every(isText))),
  );
