import type { Event, LocalObject, Pod } from '@podwright/kube-api';
import type {
  ConditionsPatch,
  ContainerUse,
  LogEnd,
  LogPlace,
  NodeObject,
  TraceSpan,
  UsageReport,
} from '@podwright/kubelet';
import type {
  ApplyOptions,
  ApplyResult,
  ImageTransfer,
  NodeInfo,
  RestartAnswer,
  StopOptions,
  WatchEvent,
} from './local-api.ts';
import type { MetadataPatch } from './metadata-patch.ts';
import type { EphemeralPatch, ResizePatch } from './pod-patch.ts';

/** Every kind of object that a node lists. */
export type ApiObject = Pod | LocalObject | Event | NodeObject;
export type ApiKind = ApiObject['kind'];

/** The objects of a kind, and every change from then on: nothing is missed between the two, and nothing told twice. */
export type ObjectWatch = { present: ApiObject[]; changes: AsyncIterable<WatchEvent<ApiObject>> };

/** Names one object; the namespace is '' for kinds without. */
export type ObjectName<K extends string = string> = { kind: K; namespace: string; name: string };

/** Returns the patch of an object, which it gets while nothing else can change it. */
export type PatchOf<O, P> = (current: O) => P;

/** What a client wants to stream with a pod. `container` '' means the first. */
export type StreamingCall =
  | {
      kind: 'exec';
      container: string;
      command: string[];
      stdin: boolean;
      stdout: boolean;
      stderr: boolean;
      tty: boolean;
    }
  | { kind: 'attach'; container: string; stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean }
  | { kind: 'portforward'; ports: number[] };

/** Which log: of the newest attempt, the one before, or the one with this ID. */
export type LogChoice = { container: string; previous: boolean; containerId?: string };

/** What the local API asks of the node. Errors are `PodwrightError`s; `not_found` names what there is not. */
export interface NodeBackend {
  info(): Promise<NodeInfo>;
  list(kind: ApiKind): ApiObject[];
  get(object: ObjectName<ApiKind>): ApiObject;
  watch(kind: ApiKind, signal: AbortSignal): ObjectWatch;
  /** Progress of all transfers of images; ends at once if the runtime tells none. */
  watchTransfers(signal: AbortSignal): AsyncIterable<ImageTransfer>;
  /** Creates or replaces the objects of a manifest; all or none. With `dryRun` it only tells what it would do. */
  apply(manifest: string, options: ApplyOptions): Promise<ApplyResult>;
  /** Deletes an object that was applied. A pod ends in the background. */
  remove(object: ObjectName<ApiKind>, gracePeriodSeconds: number | undefined): Promise<void>;
  /** Changes labels and annotations of an object that was applied; resolves with it once everybody sees them. */
  patch(object: ObjectName<ApiKind>, change: PatchOf<ApiObject, MetadataPatch>): Promise<ApiObject>;
  /** Adds containers for debugging to a pod that runs; resolves with it once everybody sees them. */
  addEphemeralContainers(pod: { namespace: string; name: string }, change: PatchOf<Pod, EphemeralPatch>): Promise<Pod>;
  /** Gives an applied pod other amounts of CPU and memory; resolves with it once everybody sees them. */
  resize(pod: { namespace: string; name: string }, change: PatchOf<Pod, ResizePatch>): Promise<ApiObject>;
  /** Changes conditions of a pod that are not the kubelet's own, such as those of readiness gates; resolves with the pod. */
  patchStatus(pod: { namespace: string; name: string }, patch: ConditionsPatch): ApiObject;
  /** Where the log of a container, or of one attempt of it, is; `ended` aborts when it will not grow any more, or `signal` does. */
  log(
    pod: { namespace: string; name: string },
    which: LogChoice,
    signal: AbortSignal,
  ): Promise<LogPlace & { ended: LogEnd['ended'] }>;
  /** The runtime's URL for a stream. */
  streamingUrl(pod: { namespace: string; name: string }, call: StreamingCall): Promise<string>;
  /** Restarts containers of a pod in place; they are not waited for. */
  restart(pod: { namespace: string; name: string }, container: string | undefined): RestartAnswer;
  traces(podUid: string): Promise<TraceSpan[]>;
  /** What the containers of all pods use, and what everything on the host does. */
  usage(signal: AbortSignal): Promise<UsageReport>;
  hostUsage(signal: AbortSignal): Promise<ContainerUse>;
  /** Ends the daemon, after the answer was sent. */
  stop(options: StopOptions): void;
}
