import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, PodwrightError, Registry, silentLogger } from '@podwright/base';
import { LogReduction } from './log-reduction.ts';
import { createCallObserver } from './observer.ts';
import { operationName } from './operation-metrics.ts';

test('an identical message is logged once a minute', () => {
  let now = 0;
  const reduction = new LogReduction(60_000, () => now);
  assert.equal(reduction.shouldLog('a'), true);
  assert.equal(reduction.shouldLog('a'), false);
  assert.equal(reduction.shouldLog('b'), true);
  now = 59_999;
  assert.equal(reduction.shouldLog('a'), false);
  now = 60_000;
  assert.equal(reduction.shouldLog('a'), true);
});

test('the number of remembered messages is bounded', () => {
  const reduction = new LogReduction(60_000, () => 0);
  for (let index = 0; index < 1001; index++) reduction.shouldLog(`message ${index}`);
  assert.equal(reduction.shouldLog('message 1'), false);
  assert.equal(reduction.shouldLog('message 0'), true);
});

test('a repeated failure is logged once, and an expected one at debug level', () => {
  const lines: [string, object][] = [];
  const logger: Logger = {
    ...silentLogger,
    debug: (fields) => void lines.push(['debug', fields]),
    warn: (fields) => void lines.push(['warn', fields]),
  };
  const observer = createCallObserver(logger);
  const error = new PodwrightError('internal', 'disk on fire');
  for (let times = 0; times < 3; times++) observer.started('runPodSandbox')(error);
  observer.started('containerStatus')(new PodwrightError('not_found', 'no such container'));
  assert.deepEqual(lines, [
    ['warn', { operation: 'run_podsandbox', code: 'internal', error: 'disk on fire' }],
    ['debug', { operation: 'container_status', code: 'not_found', error: 'no such container' }],
  ]);
});

test('calls are counted under the kubelet’s names, and clients sharing a registry share the counters', async () => {
  const registry = new Registry();
  createCallObserver(silentLogger, registry).started('listPodSandbox')();
  createCallObserver(silentLogger, registry).started('listPodSandbox')(new PodwrightError('internal', 'no'));
  const text = await registry.metrics();
  assert.match(text, /^kubelet_runtime_operations_total\{operation_type="list_podsandbox"\} 2$/m);
  assert.match(text, /^kubelet_runtime_operations_errors_total\{operation_type="list_podsandbox"\} 1$/m);
  assert.match(text, /^kubelet_runtime_operations_duration_seconds_count\{operation_type="list_podsandbox"\} 2$/m);
});

test('operations have the kubelet’s names', () => {
  const check = (method: string, expected: string) => assert.equal(operationName(method), expected);
  check('version', 'version');
  check('podSandboxStatus', 'podsandbox_status');
  check('listPodSandboxStats', 'list_podsandbox_stats');
  check('updateContainerResources', 'update_container');
  check('imageFsInfo', 'image_fs_info');
});
