import {
  type ContainerEventResponse,
  ContainerEventResponseSchema,
  type CreateContainerRequest,
  create,
  type ImageStatusRequest,
  type ImageStatusResponse,
  type PullImageRequest,
  type RunPodSandboxRequest,
} from '@podwright/cri';
import { podText } from '../methods/subject.ts';
import type { RecordedCall, Recording } from '../recording/read-recording.ts';
import { RecordedObjects } from './recorded-objects.ts';
import { ReplayedContainer, ReplayedSandbox } from './replayed-objects.ts';
import { Timeline } from './timeline.ts';

const POD_CHANGES =
  /^(?:(?:Run|Stop|Remove)PodSandbox|(?:Create|Start|Stop|Remove|Checkpoint)Container|Update(?:Container|PodSandbox)Resources|ReopenContainerLog)$/;
const IMAGE_CHANGES = /^(?:Pull|Remove)Image$/;

/**
 * The timeline of the pod or image that a client's call changes, and the recorded call that corresponds to the client's, if there is one.
 */
export type Change = { recorded: RecordedCall | undefined; timeline: Timeline };

/** The state of the recorded runtime during a replay, driven by the client's calls. */
export class ReplayRuntime {
  readonly #objects: RecordedObjects;
  readonly #start: { recordedMs: number; realMs: number };
  readonly #pods = new Map<string, Timeline>();
  readonly #images = new Map<string, Timeline>();
  readonly #node: Timeline;
  readonly #calls: RecordedCall[];
  readonly sandboxes: Map<string, ReplayedSandbox>;
  readonly containers: Map<string, ReplayedContainer>;

  constructor(recording: Recording, nowMs: number) {
    this.#calls = recording.calls;
    this.#objects = new RecordedObjects(recording);
    this.#start = { recordedMs: recording.startedAtMs, realMs: nowMs };
    this.#node = new Timeline([], this.#start);
    const byPod = Map.groupBy(
      recording.calls.filter(({ method }) => POD_CHANGES.test(method.name)),
      (call) => podText(this.#objects.subjects.get(call)),
    );
    for (const [pod, calls] of byPod) this.#pods.set(pod, new Timeline(calls, this.#start));
    const byImage = Map.groupBy(
      recording.calls.filter(({ method }) => IMAGE_CHANGES.test(method.name)),
      imageOf,
    );
    for (const [image, calls] of byImage) this.#images.set(image, new Timeline(calls, this.#start));
    const { sandboxes, containers } = this.#objects;
    this.sandboxes = new Map(
      [...sandboxes].map(([id, one]) => [id, new ReplayedSandbox(one, this.podTimeline(one.pod))]),
    );
    this.containers = new Map(
      [...containers].map(([id, one]) => [id, new ReplayedContainer(one, this.podTimeline(one.pod))]),
    );
  }

  podTimeline(pod: string): Timeline {
    const timeline = this.#pods.get(pod) ?? new Timeline([], this.#start);
    this.#pods.set(pod, timeline);
    return timeline;
  }

  /** Finds the next recorded call of the method to a pod for which `matches` returns true. `pod` is `NAMESPACE/NAME`. */
  changePod(method: string, { pod, matches }: { pod: string; matches: (change: RecordedCall) => boolean }): Change {
    const timeline = this.podTimeline(pod);
    return { timeline, recorded: timeline.take((change) => change.method.name === method && matches(change)) };
  }

  /** Completes `RunPodSandbox` or `CreateContainer`: the recorded object becomes visible, with the configuration from the request. */
  finishCreation(change: Change, request: RunPodSandboxRequest | CreateContainerRequest): void {
    const objects = [...this.sandboxes.values(), ...this.containers.values()];
    const object = objects.find(({ recorded }) => recorded.madeBy === change.recorded);
    if (object === undefined) return;
    object.isMade = true;
    if (request.config !== undefined) object.recorded.config = request.config;
    if (!(object instanceof ReplayedContainer)) return;
    const { sandboxConfig, config } = request as CreateContainerRequest;
    if (sandboxConfig?.logDirectory && config?.logPath)
      object.logPath = `${sandboxConfig.logDirectory}/${config.logPath}`;
  }

  beginImageChange(method: string, request: object): Change {
    const image = imageOf({ request });
    const timeline = this.#images.get(image) ?? new Timeline([], this.#start);
    return { timeline, recorded: timeline.take((change) => change.method.name === method) };
  }

  /** Returns the recorded status of the image in the request: the latest one so far or, if there is none, the first one. */
  imageStatus(request: ImageStatusRequest | PullImageRequest, nowMs: number): ImageStatusResponse | undefined {
    const image = imageOf({ request });
    const all = this.#calls.filter((call) => call.method.name === 'ImageStatus' && imageOf(call) === image);
    const recordedMs = this.#images.get(image)?.at(nowMs) ?? this.#node.at(nowMs);
    const call = all.findLast(({ endMs }) => endMs <= recordedMs) ?? all[0];
    return call?.answers[0]?.message as ImageStatusResponse | undefined;
  }

  /**
   * Returns the recorded call of a method that ended last by the replay's current time or, if none has ended yet, the first one. Considers
   * only calls with the same request (`isSame`), or, if there are none and `pod` is unset, all calls.
   */
  recordedCall(
    method: string,
    { nowMs, isSame, pod }: { nowMs: number; isSame: (call: RecordedCall) => boolean; pod?: string },
  ): RecordedCall | undefined {
    const timeline = pod === undefined ? this.#node : this.podTimeline(pod);
    const recordedMs = timeline.at(nowMs);
    const all = this.#calls.filter((call) => call.method.name === method);
    const same = all.filter(isSame);
    const calls = same.length > 0 ? same : pod === undefined ? all : [];
    return calls.findLast(({ endMs }) => endMs <= recordedMs) ?? calls[0];
  }

  /** Returns the due events that are not in `read`, oldest first, and adds them to `read`. */
  events(read: Set<object>, nowMs: number): ContainerEventResponse[] {
    const due = this.#objects.events.filter(
      (one) => !read.has(one) && one.atMs <= this.podTimeline(one.pod).at(nowMs) && this.#isOfMade(one.event),
    );
    for (const one of due) read.add(one);
    return due.map(({ event, atMs }) => this.#replayed(event, atMs));
  }

  get hasEvents(): boolean {
    return this.#calls.some(
      ({ method, status, answers }) =>
        method.name === 'GetContainerEvents' && (status?.code !== 12 || answers.length > 0),
    );
  }

  #isOfMade({ containerId }: ContainerEventResponse): boolean {
    return (this.containers.get(containerId) ?? this.sandboxes.get(containerId))?.isMade === true;
  }

  #replayed(event: ContainerEventResponse, recordedMs: number): ContainerEventResponse {
    const object = this.containers.get(event.containerId) ?? this.sandboxes.get(event.containerId);
    return create(ContainerEventResponseSchema, {
      ...event,
      createdAt: object?.timeline.realNs(event.createdAt) ?? event.createdAt,
      podSandboxStatus: event.podSandboxStatus && this.sandboxes.get(event.podSandboxStatus.id)?.status(recordedMs),
      containersStatuses: event.containersStatuses.map(
        (status) => this.containers.get(status.id)?.status(recordedMs) ?? status,
      ),
    });
  }
}

function imageOf({ request }: { request: object }): string {
  return (request as Partial<PullImageRequest>).image?.image ?? '';
}
