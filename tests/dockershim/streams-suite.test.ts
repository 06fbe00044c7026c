import { streamingSuite } from '../streaming/streaming.suite.ts';
import { busyboxImage, startDockerEngine } from './docker-engine.fixture.ts';
import { openDockershim } from './dockershim.fixture.ts';

streamingSuite('a Docker Engine', async () => {
  const docker = await startDockerEngine();
  const dockershim = await openDockershim(docker.socket);
  const end = async () => {
    await dockershim[Symbol.asyncDispose]();
    await docker.stop();
  };
  return { cri: dockershim.cri, image: busyboxImage, logDirectory: dockershim.scratch, end };
});
