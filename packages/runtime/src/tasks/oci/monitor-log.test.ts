import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logPathOf } from './monitor-log.ts';

test("a log's path is found in the monitor's command line", () => {
  assert.equal(logPathOf(['conmon', '--log-path', 'k8s-file:/var/log/a:b.log', '--terminal']), '/var/log/a:b.log');
  assert.equal(logPathOf(['conmon', '--log-path', 'off']), undefined);
  assert.equal(logPathOf(['conmon', '--cid', 'k8s-file:/x']), undefined);
  assert.equal(logPathOf([]), undefined);
});
