import { streamingSuite } from '../streaming/streaming.suite.ts';
import { BarePods } from './bare-pods.fixture.ts';
import { busyboxImage } from './docker-engine.fixture.ts';

streamingSuite('a Docker Engine', async () => {
  const pods = await BarePods.start();
  const end = async () => pods[Symbol.asyncDispose]();
  return { cri: pods.cri, image: busyboxImage, logDirectory: pods.docker.scratch, end };
});
