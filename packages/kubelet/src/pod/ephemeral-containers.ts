import { mkdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  errorMessage,
  isErrno,
  KeyedLock,
  type Logger,
  POD_DIRECTORY,
  PodwrightError,
  PRIVATE_FILE,
} from '@podwright/base';
import { namesIn, readJsonFile, writeFileDurable } from '@podwright/host';
import {
  completeEphemeral,
  type EphemeralContainer,
  ephemeralContainer,
  formatFieldPath,
  IssueList,
  list,
  MAX_MANIFEST_BYTES,
  namespacedName,
  type Pod,
  validateEphemeralContainers,
} from '@podwright/kube-api';
import type { PodDirectories } from '@podwright/volumes';

/** Returns a pod's new list of ephemeral containers, given the existing one. */
export type EphemeralChange = (before: EphemeralContainer[]) => EphemeralContainer[];

const PATH = ['spec', 'ephemeralContainers'];

/**
 * The ephemeral containers of running pods. Manifests cannot contain them, so they are saved to a file in each pod's directory and removed
 * along with the directory.
 */
export class EphemeralContainers {
  readonly #directories: PodDirectories;
  readonly #byPod = new Map<string, EphemeralContainer[]>();
  /** One lock per pod, which makes reading, checking and writing a change atomic. */
  readonly #locks = new KeyedLock();

  constructor(directories: PodDirectories) {
    this.#directories = directories;
  }

  /** Restores the ephemeral containers after a kubelet restart. Unreadable and invalid files are logged and ignored. */
  async load(logger: Logger): Promise<void> {
    for (const uid of await namesIn(this.#directories.root)) {
      const path = this.#directories.ephemeralContainers(uid);
      try {
        this.#byPod.set(uid, decode(await readJsonFile(path, MAX_MANIFEST_BYTES)));
      } catch (error) {
        if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTDIR'))
          logger.warn({ path, error: errorMessage(error) }, 'the ephemeral containers of a pod are ignored');
      }
    }
  }

  /** Returns the pod with its ephemeral containers added. */
  complete(pod: Pod): Pod {
    const added = this.#byPod.get(pod.metadata.uid);
    return added === undefined ? pod : { ...pod, spec: { ...pod.spec, ephemeralContainers: added } };
  }

  /**
   * Changes a pod's ephemeral containers and returns them. Rejects with `invalid_argument` if one is invalid, or if an existing one would
   * be removed or changed. Rejects with `failed_precondition` if `current` returns `undefined`, which means that the pod is being deleted.
   */
  change(pod: Pod, change: EphemeralChange, current: () => Pod | undefined): Promise<EphemeralContainer[]> {
    const { uid } = pod.metadata;
    const what = `debug pod ${namespacedName(pod)}`;
    const existing = () => {
      const now = current();
      if (now === undefined) throw new PodwrightError('failed_precondition', `${what}: it is being deleted`);
      return now;
    };
    return this.#locks.run(uid, async () => {
      const now = existing();
      const before = this.#byPod.get(uid) ?? [];
      const containers = change(before).map((container) => completeEphemeral(container, now.spec));
      const problems = [...changed(before, containers), ...invalid(now, containers)];
      if (problems.length > 0) throw new PodwrightError('invalid_argument', `${what}: ${problems.join('\n')}`);
      await mkdir(this.#directories.pod(uid), { recursive: true, mode: POD_DIRECTORY });
      await writeFileDurable(this.#directories.ephemeralContainers(uid), JSON.stringify(containers), PRIVATE_FILE);
      existing(); // if the pod was deleted meanwhile, the orphan cleanup removes its file
      this.#byPod.set(uid, containers);
      return containers;
    });
  }

  forget(podUid: string): void {
    this.#byPod.delete(podUid);
  }

  /** Drops the ephemeral containers of all unknown pods. */
  keepOnly(isKnown: (podUid: string) => boolean): void {
    for (const uid of this.#byPod.keys()) if (!isKnown(uid)) this.#byPod.delete(uid);
  }
}

function decode(value: unknown): EphemeralContainer[] {
  const issues = new IssueList(PATH);
  const containers = list(ephemeralContainer)(value, issues);
  if (issues.count > 0) throw new PodwrightError('data_loss', messages(issues).join('\n'));
  return containers;
}

const messages = ({ issues }: IssueList) => issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);

function invalid(pod: Pod, ephemeralContainers: EphemeralContainer[]): string[] {
  const issues = new IssueList(PATH);
  validateEphemeralContainers({ ...pod.spec, ephemeralContainers }, issues);
  return messages(issues);
}

/** Lists existing ephemeral containers that would be removed or changed, which the API forbids. */
function changed(before: EphemeralContainer[], after: EphemeralContainer[]): string[] {
  return before.flatMap((old) => {
    const now = after.find(({ name }) => name === old.name);
    const what = `spec.ephemeralContainers: existing ephemeral containers "${old.name}" may not be`;
    if (now === undefined) return [`${what} removed`];
    return isDeepStrictEqual(now, old) ? [] : [`${what} changed`];
  });
}
