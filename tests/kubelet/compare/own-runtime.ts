import { mkdirSync } from 'node:fs';
import { RuntimeUnderTest } from '../../fixtures/runtime-under-test.ts';
import type { Containerd } from '../containerd.fixture.ts';

/** Our runtime in this process, with the image that `startContainerd` has. */
export async function startOwnRuntime(): Promise<Pick<Containerd, 'scratch' | 'endpoint' | 'stop'>> {
  const runtime = await new RuntimeUnderTest().start();
  const { logs: scratch, options } = runtime.place;
  mkdirSync(scratch, { recursive: true });
  const stop = async () => {
    for (const line of await runtime.end()) console.error(`left on the host: ${line}`);
  };
  return { scratch, endpoint: `unix://${options.socket}`, stop };
}
