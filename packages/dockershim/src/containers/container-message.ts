import { type ContainerStatusSchema, criSignal, type MessageInitShape } from '@podwright/cri';
import { nanoseconds } from '../engine/engine-times.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { LOG_PATH_LABEL, SANDBOX_ID_LABEL } from '../labels/labels.ts';
import { parseName } from '../labels/names.ts';
import { isNetworkFile } from '../sandbox/network-files.ts';
import { phaseOf, stateOfPhase } from './container-phase.ts';
import { givenMarks } from './details.ts';
import type { ImageNames } from './image-names.ts';
import { criPropagation } from './mounts.ts';
import { criResources } from './resources.ts';

/** The Engine's default stop signal, used if neither the image nor the container sets one. */
const DEFAULT_STOP_SIGNAL = 'SIGTERM';

type Status = MessageInitShape<typeof ContainerStatusSchema>;

/** Converts a container created by a dockershim to a ContainerStatus. `image` is `undefined` if the image has been removed. */
export function criContainerStatus(container: ContainerInspection, image: ImageNames | undefined): Status {
  const { Config, Image } = container;
  const { labels, annotations, userSpecifiedImage } = givenMarks(Config.Labels);
  const { name, attempt } = parseName(container.Name)!;
  const imageName = image?.RepoTags.find((tag) => tag === userSpecifiedImage) ?? image?.RepoTags[0] ?? Config.Image;
  return {
    id: container.Id,
    metadata: { name, attempt },
    ...stateFields(container),
    image: { image: imageName, userSpecifiedImage },
    imageRef: pullableReference(Image, { imageName, image }),
    imageId: Image,
    labels,
    annotations,
    mounts: mountsOf(container),
    logPath: Config.Labels[LOG_PATH_LABEL],
    resources: { linux: criResources(container) },
    user: userOf(container),
    stopSignal: criSignal(Config.StopSignal || DEFAULT_STOP_SIGNAL),
  };
}

function mountsOf({ Mounts, Config }: ContainerInspection): Status['mounts'] {
  const sandboxId = Config.Labels[SANDBOX_ID_LABEL] ?? '';
  const asked = Mounts.filter((mount) => mount.Type === 'bind' && !isNetworkFile(sandboxId, mount));
  return asked.map(({ Source, Destination, RW, Propagation }) => ({
    hostPath: Source,
    containerPath: Destination,
    readonly: !RW,
    propagation: criPropagation(Propagation),
  }));
}

/**
 * Returns the image reference in the format of upstream's dockershim: `docker-pullable://` and a digest or, if the image has none,
 * `docker://` and the image ID.
 */
function pullableReference(id: string, { imageName, image }: { imageName: string; image: ImageNames | undefined }) {
  const repository = imageName.replace(/:[^/:]*$/, '');
  const digests = image?.RepoDigests ?? [];
  const digest = digests.find((one) => one.startsWith(`${repository}@`)) ?? digests[0];
  return digest === undefined ? `docker://${id}` : `docker-pullable://${digest}`;
}

function stateFields(container: ContainerInspection) {
  const { State, Created } = container;
  const phase = phaseOf(container);
  const createdAt = nanoseconds(Created);
  const fields = { state: stateOfPhase(phase), createdAt, startedAt: nanoseconds(State.StartedAt) };
  if (phase !== 'exited') return fields;
  const finishedAt = nanoseconds(State.FinishedAt);
  const end = { exitCode: State.ExitCode, message: State.Error, reason: endReason(State) };
  // a container that never ran is reported as started and finished at its creation time
  if (finishedAt === 0n) return { ...fields, ...end, startedAt: createdAt, finishedAt: createdAt };
  // the Engine records the start time when containerd reports it, possibly after a short-lived process has already exited
  return { ...fields, ...end, finishedAt, ...(fields.startedAt > finishedAt && { startedAt: finishedAt }) };
}

function endReason({ FinishedAt, OOMKilled, ExitCode }: ContainerInspection['State']): string {
  if (nanoseconds(FinishedAt) === 0n) return 'ContainerCannotRun';
  if (OOMKilled) return 'OOMKilled';
  return ExitCode === 0 ? 'Completed' : 'Error';
}

/** Returns the user if user and group are numeric. Names are resolved from the image's files, and the Engine does not report the result. */
function userOf({ Config, HostConfig }: ContainerInspection): Status['user'] {
  const match = /^(\d{1,10}):(\d{1,10})$/.exec(Config.User);
  if (match === null) return undefined;
  const [uid, gid] = [BigInt(match[1]!), BigInt(match[2]!)];
  const added = HostConfig.GroupAdd.filter((group) => /^\d{1,10}$/.test(group)).map(BigInt);
  return { linux: { uid, gid, supplementalGroups: [...new Set([gid, ...added])] } };
}
