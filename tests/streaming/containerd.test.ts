import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { busyboxImage, startContainerd } from '../kubelet/containerd.fixture.ts';
import { streamingSuite } from './streaming.suite.ts';

streamingSuite('containerd 1.6', async () => {
  const containerd = await startContainerd('st');
  const cri = await connectCri({ runtimeEndpoint: containerd.endpoint, logger: silentLogger });
  const end = async () => {
    cri.close();
    await containerd.stop();
  };
  const logDirectory = join(containerd.scratch, 'logs');
  return { cri, image: busyboxImage, logDirectory, end, lingerSeconds: 0.5 };
});
