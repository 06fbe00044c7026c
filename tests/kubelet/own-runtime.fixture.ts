import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import type { RuntimeOptions } from '@podwright/runtime';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import type { SuiteRuntime } from './suite-runtime.fixture.ts';

/** Our runtime in this process; `given` has the directory that is its own. To be stopped without pods, and then nothing is left of it. */
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
    stop: async () => assert.deepEqual(await runtime.end(), [], 'nothing of the runtime is left on the host'),
  };
}
