import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import type { RuntimeOptions } from '@podwright/runtime';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import type { SuiteRuntime } from './suite-runtime.fixture.ts';

/**
 * Starts Podwright's runtime in this process. `given` returns additional options for its scratch directory. `stop` asserts that nothing is
 * left behind.
 */
export async function startOwnRuntime(
  given: (scratch: string) => Partial<RuntimeOptions> = () => ({}),
): Promise<SuiteRuntime> {
  const runtime = new RuntimeUnderTest();
  const { logs: scratch, options } = runtime.place;
  mkdirSync(scratch, { recursive: true });
  await runtime.start(given(scratch));
  return {
    scratch,
    endpoint: `unix://${options.socket}`,
    bridge: options.network.bridge,
    image: runtime.image,
    stop: async () => assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host'),
  };
}
