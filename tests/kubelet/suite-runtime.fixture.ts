import type { RuntimeOptions } from '@podwright/runtime';
import { type Containerd, startContainerd } from './containerd.fixture.ts';
import { startDockerNode } from './docker-node.fixture.ts';
import { startOwnRuntime } from './own-runtime.fixture.ts';

/** A runtime for the kubelet suites; `image` is the name of the busybox image. */
export type SuiteRuntime = Pick<Containerd, 'scratch' | 'endpoint' | 'bridge' | 'stop'> & { image: string };

/** A runtime in a separate process, which can be restarted. `load` loads the images in an archive. */
export type RestartableRuntime = SuiteRuntime & Pick<Containerd, 'restart' | 'load'>;

/** Whether the suites run on a Docker Engine with the dockershim (PODWRIGHT_TEST_RUNTIME=docker). */
export const onDocker = isDocker(process.env.PODWRIGHT_TEST_RUNTIME);

/**
 * Expectations that differ on Docker. Two files test features that Docker lacks and therefore always use Podwright's runtime:
 * `tests/userns/kubelet.test.ts` (user namespaces for pods) and `tests/cluster/dra.test.ts` (CDI devices).
 */
export const docker = {
  /** A line of Docker's own log format; the CRI log path is a symbolic link to Docker's log file. */
  logLine: (text: string) => new RegExp(`^\\{"log":"${text}\\\\n","stream":"stdout","time":"`, 'm'),
  /** The only log file seen by the kubelet, which is a link that does not grow, because Docker rotates logs itself. */
  logFiles: ['0.log'],
  /** What a log counts toward a pod's ephemeral storage: only the block used by the link, because the log itself belongs to Docker. */
  mostLogBytes: 4096,
  /** Docker cannot remove a memory limit in an update: the container keeps its limit, and the pod's condition has this message. */
  memoryLimitStays: /Docker cannot remove the memory limit of a container/,
  /** CDI requires the API of Docker Engine 25 or later. */
  noCdi: /Docker cannot give a container CDI devices \(.*\): Docker Engine 25 or later can/,
};

/** Starts containerd, or a Docker Engine with the dockershim if the suites run on Docker. `name`: see `startContainerd`. */
export function startOtherRuntime(name: string): Promise<RestartableRuntime> {
  return onDocker ? startDockerNode(name) : startContainerd(name);
}

/** Starts Podwright's runtime, or a Docker Engine with the dockershim if the suites run on Docker. */
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
