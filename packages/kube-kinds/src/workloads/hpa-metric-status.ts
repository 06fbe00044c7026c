/** Converts metric statuses between autoscaling/v2 and the form in autoscaling/v1 annotations. */
import { type JsonObject, textAt, valueAt } from '../values.ts';
import { type Convert, metricOf, present, reference } from './hpa-metric-parts.ts';

export const TO_V1_STATUS: Convert = {
  object: ({ describedObject, metric, current }) =>
    present({
      target: reference(describedObject),
      metricName: textAt(metric, 'name'),
      currentValue: textAt(current, 'value') || '0',
      selector: valueAt(metric, 'selector'),
      averageValue: valueAt(current, 'averageValue'),
    }),
  pods: ({ metric, current }) =>
    present({
      metricName: textAt(metric, 'name'),
      currentAverageValue: textAt(current, 'averageValue') || '0',
      selector: valueAt(metric, 'selector'),
    }),
  resource: resourceStatusToV1,
  containerResource: (source) => ({ ...resourceStatusToV1(source), container: textAt(source, 'container') }),
  external: ({ metric, current }) =>
    present({
      metricName: textAt(metric, 'name'),
      metricSelector: valueAt(metric, 'selector'),
      currentValue: textAt(current, 'value') || '0',
      currentAverageValue: valueAt(current, 'averageValue'),
    }),
};

function resourceStatusToV1({ name, current }: JsonObject): JsonObject {
  return present({
    name,
    currentAverageUtilization: valueAt(current, 'averageUtilization'),
    currentAverageValue: textAt(current, 'averageValue') || '0',
  });
}

export const FROM_V1_STATUS: Convert = {
  object: (source) => ({
    metric: metricOf(source, 'selector'),
    current: present({
      value: textAt(source, 'currentValue') || '0',
      averageValue: valueAt(source, 'averageValue'),
    }),
    describedObject: reference(valueAt(source, 'target')),
  }),
  pods: (source) => ({
    metric: metricOf(source, 'selector'),
    current: { averageValue: textAt(source, 'currentAverageValue') || '0' },
  }),
  resource: resourceStatusFromV1,
  containerResource: (source) => ({ ...resourceStatusFromV1(source), container: textAt(source, 'container') }),
  external: (source) => ({
    metric: metricOf(source, 'metricSelector'),
    current: present({
      value: textAt(source, 'currentValue') || '0',
      averageValue: valueAt(source, 'currentAverageValue'),
    }),
  }),
};

function resourceStatusFromV1(source: JsonObject): JsonObject {
  const current = present({
    averageValue: textAt(source, 'currentAverageValue') || '0',
    averageUtilization: valueAt(source, 'currentAverageUtilization'),
  });
  return { name: textAt(source, 'name'), current };
}
