import { mkdir, readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  errorMessage,
  isErrno,
  type Logger,
  namesIn,
  POD_DIRECTORY,
  PodwrightError,
  PRIVATE_FILE,
  writeFileAtomic,
} from '@podwright/base';
import { completeEphemeral } from '../api/defaults.ts';
import { formatFieldPath, IssueList } from '../api/issue.ts';
import { type EphemeralContainer, namespacedName, type Pod } from '../api/types.ts';
import { validateEphemeralContainers } from '../api/validation/ephemeral.ts';
import type { PodDirectories } from '../volumes/pod-directories.ts';

/**
 * The containers that people add to pods that run. No manifest has them, so they are kept in a file in each pod's directory, and go
 * with it.
 */
export class EphemeralContainers {
  readonly #directories: PodDirectories;
  readonly #byPod = new Map<string, EphemeralContainer[]>();

  constructor(directories: PodDirectories) {
    this.#directories = directories;
  }

  /** Reads what was added before a restart of the kubelet. A file that cannot be read is logged. */
  async load(logger: Logger): Promise<void> {
    for (const uid of await namesIn(this.#directories.root)) {
      const path = this.#directories.ephemeralContainers(uid);
      try {
        this.#byPod.set(uid, JSON.parse(await readFile(path, 'utf8')) as EphemeralContainer[]);
      } catch (error) {
        if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTDIR'))
          logger.warn({ path, error: errorMessage(error) }, 'containers that were added for debugging are forgotten');
      }
    }
  }

  /** The pod with what was added to it. */
  complete(pod: Pod): Pod {
    const added = this.#byPod.get(pod.metadata.uid);
    return added === undefined ? pod : { ...pod, spec: { ...pod.spec, ephemeralContainers: added } };
  }

  /**
   * Has a pod have these containers for debugging, those before among them. `invalid_argument` with everything that is wrong with one,
   * or if one from before is missing or changed.
   */
  async set(pod: Pod, wanted: EphemeralContainer[]): Promise<void> {
    const { uid } = pod.metadata;
    const containers = wanted.map((container) => completeEphemeral(container, pod.spec));
    const problems = [...changed(this.#byPod.get(uid) ?? [], containers), ...invalid(pod, containers)];
    if (problems.length > 0)
      throw new PodwrightError('invalid_argument', `debug pod ${namespacedName(pod)}: ${problems.join('\n')}`);
    await mkdir(this.#directories.pod(uid), { recursive: true, mode: POD_DIRECTORY });
    await writeFileAtomic(this.#directories.ephemeralContainers(uid), JSON.stringify(containers), PRIVATE_FILE);
    this.#byPod.set(uid, containers);
  }

  forget(podUid: string): void {
    this.#byPod.delete(podUid);
  }
}

function invalid(pod: Pod, ephemeralContainers: EphemeralContainer[]): string[] {
  const issues = new IssueList(['spec', 'ephemeralContainers']);
  validateEphemeralContainers({ ...pod.spec, ephemeralContainers }, issues);
  return issues.issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
}

/** Such a container is started once, and cannot be taken back. */
function changed(before: EphemeralContainer[], after: EphemeralContainer[]): string[] {
  return before.flatMap((old) => {
    const now = after.find(({ name }) => name === old.name);
    const what = `spec.ephemeralContainers: existing ephemeral containers "${old.name}" may not be`;
    if (now === undefined) return [`${what} removed`];
    return isDeepStrictEqual(now, old) ? [] : [`${what} changed`];
  });
}
