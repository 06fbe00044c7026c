/** Validates HorizontalPodAutoscaler metrics (validateMetrics). */
import { compareQuantities } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { dns1123LabelProblems } from '../names.ts';
import { validateContainerResourceName } from '../resource-names.ts';
import { pathSegmentProblems } from '../texts.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { type ReferenceOptions, validateReference } from './hpa-reference.ts';

type Source = { field: string; validate: (source: JsonObject, field: Field, options: ReferenceOptions) => void };

/** Metric sources by type, in the order checked by upstream. */
const SOURCES: Readonly<Record<string, Source>> = {
  Object: { field: 'object', validate: validateObject },
  External: { field: 'external', validate: validateExternal },
  Pods: { field: 'pods', validate: validatePods },
  Resource: { field: 'resource', validate: validateResource },
  ContainerResource: { field: 'containerResource', validate: validateContainerResource },
};
const TYPES = Object.keys(SOURCES).sort();
const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

export function validateMetrics(spec: JsonObject, field: Field, options: ReferenceOptions): void {
  const metrics = objectsAt(spec, 'metrics');
  for (const [index, metric] of metrics.entries()) validateMetric(metric, field.at(index), options);
  const scalesFromZero = metrics.some((metric) => ['Object', 'External'].includes(textAt(metric, 'type')));
  if (numberAt(spec, 'minReplicas') === 0 && !scalesFromZero)
    field.forbidden('must specify at least one Object or External metric to support scaling to zero replicas');
}

function validateMetric(metric: JsonObject, field: Field, options: ReferenceOptions): void {
  const type = textAt(metric, 'type');
  const source = Object.hasOwn(SOURCES, type) ? SOURCES[type] : undefined;
  if (type === '') field.at('type').required('must specify a metric source type');
  if (source === undefined) field.at('type').notSupported(type, TYPES);
  const present = Object.values(SOURCES).filter((one) => objectAt(metric, one.field) !== undefined);
  const first = present[0];
  if (first !== undefined) first.validate(objectAt(metric, first.field)!, field.at(first.field), options);
  if (source === undefined) field.at('type').notSupported(type, TYPES);
  else if (!present.includes(source))
    field.at(source.field).required('must populate information for the given metric source');
  if (present.length === 1) return;
  for (const one of present)
    if (one !== source) field.at(one.field).forbidden('must populate the given metric source only');
}

function validateObject(source: JsonObject, field: Field, options: ReferenceOptions): void {
  validateReference(objectAt(source, 'describedObject') ?? {}, field.at('describedObject'), options);
  validateNameAndTarget(source, field);
  const { value, average } = targetOf(source);
  if (value === undefined && average === undefined)
    field.at('target', 'averageValue').required('must set either a target value or averageValue');
}

function validateExternal(source: JsonObject, field: Field): void {
  validateNameAndTarget(source, field);
  const { value, average } = targetOf(source);
  if (value === undefined && average === undefined)
    field.at('target', 'averageValue').required('must set either a target value for metric or a per-pod target');
  if (value !== undefined && average !== undefined)
    field.at('target', 'value').forbidden('may not set both a target value for metric and a per-pod target');
}

function validatePods(source: JsonObject, field: Field): void {
  validateNameAndTarget(source, field);
  if (targetOf(source).average === undefined)
    field.at('target', 'averageValue').required('must specify a positive target averageValue');
}

function validateContainerResource(source: JsonObject, field: Field): void {
  const name = textAt(source, 'name');
  const container = textAt(source, 'container');
  if (name === '') field.at('name').required('must specify a resource name');
  else field.add(validateContainerResourceName(field.at('name').path, name));
  if (container === '') field.at('container').required('must specify a container');
  else field.at('container').invalidEach(container, dns1123LabelProblems(container));
  validateUtilization(source, field.at('target'));
}

function validateResource(source: JsonObject, field: Field): void {
  if (textAt(source, 'name') === '') field.at('name').required('must specify a resource name');
  validateUtilization(source, field.at('target'));
}

function validateUtilization(source: JsonObject, field: Field): void {
  validateTarget(source, field);
  const { average, utilization } = targetOf(source);
  if (utilization === undefined && average === undefined)
    field.at('averageUtilization').required('must set either a target raw value or a target utilization');
  if (utilization !== undefined && average !== undefined)
    field.at('averageValue').forbidden('may not set both a target raw value and a target utilization');
}

const targetOf = (source: JsonObject) => ({
  value: valueAt(source, 'target', 'value'),
  average: valueAt(source, 'target', 'averageValue'),
  utilization: numberAt(source, 'target', 'averageUtilization'),
});

function validateNameAndTarget(source: JsonObject, field: Field): void {
  const name = textAt(source, 'metric', 'name');
  if (name === '') field.at('metric', 'name').required('must specify a metric name');
  else field.at('metric', 'name').invalidEach(name, pathSegmentProblems(name));
  validateTarget(source, field.at('target'));
}

function validateTarget(source: JsonObject, field: Field): void {
  const type = textAt(source, 'target', 'type');
  if (type === '') field.at('type').required('must specify a metric target type');
  if (!TARGET_TYPES.includes(type))
    field.at('type').invalid(type, 'must be either Utilization, Value, or AverageValue');
  for (const name of ['value', 'averageValue']) {
    const quantity = textAt(source, 'target', name);
    if (quantity !== '' && compareQuantities(quantity, '0') <= 0) field.at(name).invalid(quantity, 'must be positive');
  }
  const { utilization } = targetOf(source);
  if (utilization !== undefined && utilization < 1)
    field.at('averageUtilization').invalid(utilization, 'must be greater than 0');
}
