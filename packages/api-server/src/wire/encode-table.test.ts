import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { Schema } from '@podwright/kube-schema';
import { includeObjectOf, tableValue } from './encode-table.ts';
import type { ResourceEncoding } from './response-content.ts';

const schema = await Schema.load();

const AUTOSCALER: ApiObject = {
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'web' },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3, targetCPUUtilizationPercentage: 80 },
  status: { currentReplicas: 0, desiredReplicas: 0 },
};

/** Converts an autoscaling/v1 HorizontalPodAutoscaler to autoscaling/v2, the stored version. */
const toStored = ({ metadata, spec, status }: ApiObject): ApiObject => {
  const { targetCPUUtilizationPercentage: averageUtilization, ...others } = spec as Record<string, unknown>;
  const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization } };
  return { metadata, spec: { ...others, metrics: [{ type: 'Resource', resource }] }, status };
};

const encoding = (includeObject: ResourceEncoding['includeObject']): ResourceEncoding => ({
  format: { mediaType: 'application/json', isPretty: false },
  schema,
  resource: { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
  toStored,
  includeObject,
  nowMs: 0,
});

test('computes columns from the stored version, and includes objects in the URL’s version', async () => {
  const table = async (include: ResourceEncoding['includeObject'], version: 'v1' | 'v1beta1' = 'v1') => {
    const content = { objects: [AUTOSCALER], resourceVersion: '7' };
    const value = await tableValue(content, { kind: 'Table', version }, encoding(include));
    const [row] = value.rows as { cells: unknown[]; object: unknown }[];
    return { apiVersion: value.apiVersion, cells: row!.cells, object: row!.object };
  };
  const whole = await table('Object');
  assert.equal(whole.object, AUTOSCALER);
  assert.ok(whole.cells.includes('cpu: <unknown>/80%'), JSON.stringify(whole.cells));
  assert.deepEqual(await table('None', 'v1beta1'), { ...whole, apiVersion: 'meta.k8s.io/v1beta1', object: null });
  const { object } = await table('Metadata', 'v1beta1');
  const { metadata } = AUTOSCALER;
  assert.deepEqual(object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata });
});

test('parses which part of the objects tables include', () => {
  const include = (text: string) => includeObjectOf(new URLSearchParams(text));
  assert.deepEqual([include(''), include('includeObject=None')], ['Metadata', 'None']);
  assert.throws(
    () => include('includeObject=none'),
    (error) =>
      error instanceof ApiError &&
      error.message ===
        `Unable to convert to Table as requested: includeObject: Invalid value: "none": must be 'Metadata', 'Object', 'None', or empty`,
  );
});
