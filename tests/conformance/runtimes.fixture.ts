import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { busyboxImage, startContainerd } from '../kubelet/containerd.fixture.ts';

/** A runtime to compare, with the busybox image loaded. */
export type RuntimeToCompare = {
  /** Podwright's runtime, or Debian's containerd 1.6, which users migrate from. */
  who: 'ours' | 'containerd';
  cri: CriClient;
  image: string;
  /** The directory that contains the pods' log directories. */
  logs: string;
  /** Stops the runtime and removes all its state. */
  end: () => Promise<void>;
};

/** Returns a start function for each runtime. `name` (up to 4 letters) must be unique among the containerds of a test run. */
export const openers = (name: string): Record<RuntimeToCompare['who'], () => Promise<RuntimeToCompare>> => ({
  ours: () => openOurs(),
  containerd: () => openContainerd(name),
});

/** Starts Podwright's runtime, with the given OCI runtime if any. */
export async function openOurs(ociRuntime = ''): Promise<RuntimeToCompare> {
  const runtime = new RuntimeUnderTest();
  await runtime.start({ ociRuntime }).catch(async (error: unknown) => {
    await runtime.stop(); // a running runtime would keep the test process alive
    throw error;
  });
  const { cri, image, place } = runtime;
  const end = async () => assert.deepEqual(await runtime.end(), [], 'nothing is left on the host');
  return { who: 'ours', cri, image, logs: place.logs, end };
}

async function openContainerd(name: string): Promise<RuntimeToCompare> {
  const containerd = await startContainerd(name);
  const cri = await connectCri({ runtimeEndpoint: containerd.endpoint, logger: silentLogger });
  const end = async () => {
    cri.close();
    await containerd.stop();
  };
  return { who: 'containerd', cri, image: busyboxImage, logs: join(containerd.scratch, 'logs'), end };
}
