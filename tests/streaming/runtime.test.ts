import assert from 'node:assert/strict';
import { join } from 'node:path';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { streamingSuite } from './streaming.suite.ts';

streamingSuite('our runtime', async () => {
  const runtime = await new RuntimeUnderTest().start();
  const { cri, image, place } = runtime;
  const end = async () => assert.deepEqual(await runtime.end(), [], 'nothing is left on the machine');
  return { cri, image, logDirectory: join(place.logs, 'streams'), end };
});
