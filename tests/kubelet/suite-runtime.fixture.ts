import type { RuntimeOptions } from '@podwright/runtime';
import { type Containerd, startContainerd } from './containerd.fixture.ts';
import { startDockerNode } from './docker-node.fixture.ts';
import { startOwnRuntime } from './own-runtime.fixture.ts';

/** A runtime that a file of the kubelet's suite is on; `image` is the name of busybox. */
export type SuiteRuntime = Pick<Containerd, 'scratch' | 'endpoint' | 'bridge' | 'stop'> & { image: string };

/** One that is a program of its own. `load` adds the images of an archive. */
export type RestartableRuntime = SuiteRuntime & Pick<Containerd, 'restart' | 'load'>;

/** Whether the whole suite is on a Docker Engine, with our dockershim: PODWRIGHT_TEST_RUNTIME=docker. */
export const onDocker = isDocker(process.env.PODWRIGHT_TEST_RUNTIME);

/**
 * What is otherwise on Docker, and why; all else of the suite is the same there. Two files are about what Docker has not at all, and
 * stay on our runtime: `tests/userns/kubelet.test.ts` (users of a pod's own) and `tests/cluster/dra.test.ts` (devices by CDI).
 */
export const docker = {
  /** Docker writes the log itself, and in its own format, behind the link in the CRI's place. */
  logLine: (text: string) => new RegExp(`^\\{"log":"${text}\\\\n","stream":"stdout","time":"`, 'm'),
  /** It rotates logs itself, too: the kubelet sees a link, which does not grow. */
  logFiles: ['0.log'],
  /** For the same reason a log is no part of a pod's storage but for a block that the link may take. */
  mostLogBytes: 4096,
  /** Docker has no word for it in an update: the container keeps its limit, and the pod says why. */
  memoryLimitStays: /Docker cannot remove the memory limit of a container/,
  /** The API of Docker Engine 25 is the first with CDI. */
  noCdi: /Docker cannot give a container CDI devices \(.*\): Docker Engine 25 or later can/,
};

/** containerd, or Docker; `name` as for `startContainerd`. */
export function startOtherRuntime(name: string): Promise<RestartableRuntime> {
  return onDocker ? startDockerNode(name) : startContainerd(name);
}

/** Our runtime, or Docker. */
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
