import type { RuntimeOptions } from '@podwright/runtime';
import { type Containerd, startContainerd } from './containerd.fixture.ts';
import { startDockerNode } from './docker-node.fixture.ts';
import { startOwnRuntime } from './own-runtime.fixture.ts';

/** A runtime for the kubelet's suite; `image` is the name of the busybox image. */
export type SuiteRuntime = Pick<Containerd, 'scratch' | 'endpoint' | 'bridge' | 'stop'> & { image: string };

/** A runtime in its own process. `load` adds the images of an archive. */
export type RestartableRuntime = SuiteRuntime & Pick<Containerd, 'restart' | 'load'>;

/** Whether the suite runs on a Docker Engine with the dockershim: PODWRIGHT_TEST_RUNTIME=docker. */
export const onDocker = isDocker(process.env.PODWRIGHT_TEST_RUNTIME);

/**
 * Expectations that differ on Docker. Two files test features that Docker lacks, and always use Podwright's runtime:
 * `tests/userns/kubelet.test.ts` (user namespaces of pods) and `tests/cluster/dra.test.ts` (devices by CDI).
 */
export const docker = {
  /** Docker writes logs in its own format; the CRI log path is a link to its file. */
  logLine: (text: string) => new RegExp(`^\\{"log":"${text}\\\\n","stream":"stdout","time":"`, 'm'),
  /** Docker rotates logs itself: the kubelet sees only a link, which does not grow. */
  logFiles: ['0.log'],
  /** So a log does not count as a pod's ephemeral storage, except for a block of the link. */
  mostLogBytes: 4096,
  /** Docker cannot remove a limit by an update: the container keeps its limit, and the pod reports the reason. */
  memoryLimitStays: /Docker cannot remove the memory limit of a container/,
  /** CDI needs the API of Docker Engine 25. */
  noCdi: /Docker cannot give a container CDI devices \(.*\): Docker Engine 25 or later can/,
};

/** Starts containerd, or Docker; `name` as for `startContainerd`. */
export function startOtherRuntime(name: string): Promise<RestartableRuntime> {
  return onDocker ? startDockerNode(name) : startContainerd(name);
}

/** Starts Podwright's runtime, or Docker. */
export function startOurRuntime(
  name: string,
  given?: (scratch: string) => Partial<RuntimeOptions>,
): Promise<SuiteRuntime> {
  return onDocker ? startDockerNode(name) : startOwnRuntime(given);
}

function isDocker(name: string | undefined): boolean {
  if (name === undefined || name === '') return false;
  if (name === 'docker') return true;
  throw new Error(`PODWRIGHT_TEST_RUNTIME=${name}: must be docker, or be left out`);
}
