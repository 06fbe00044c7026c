import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { busyboxImage, startContainerd } from '../kubelet/containerd.fixture.ts';

/** A runtime that has the busybox image, whoever made it. */
export type RuntimeToCompare = {
  /** Ours, or Debian's containerd 1.6, which is what users come from. */
  who: 'ours' | 'containerd';
  cri: CriClient;
  image: string;
  /** Directory for log directories of pods. */
  logs: string;
  /** Ends it and removes all that it made. */
  end: () => Promise<void>;
};

/** How each runtime is opened; `name` is at most 4 letters and tells the containerds of one test run apart. */
export const openers = (name: string): Record<RuntimeToCompare['who'], () => Promise<RuntimeToCompare>> => ({
  ours: () => openOurs(),
  containerd: () => openContainerd(name),
});

/** Ours, with an OCI runtime of one's choice. */
export async function openOurs(ociRuntime = ''): Promise<RuntimeToCompare> {
  const runtime = new RuntimeUnderTest();
  await runtime.start({ ociRuntime }).catch(async (error: unknown) => {
    await runtime.stop(); // it would keep the test from ending
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
