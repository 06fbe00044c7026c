import type { Event, LocalObject, Pod } from '@podwright/kube-api';
import type {
  ConditionsPatch,
  ContainerUse,
  LogEnd,
  LogSource,
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

/** The objects of a kind, and every later change: no change is missed or reported twice. */
export type ObjectWatch = { present: ApiObject[]; changes: AsyncIterable<WatchEvent<ApiObject>> };

/** Names one object; the namespace is '' for cluster-scoped kinds. */
export type ObjectName<K extends string = string> = { kind: K; namespace: string; name: string };

/** Computes the patch of an object. It is called under a lock, so the object cannot change meanwhile. */
export type PatchOf<O, P> = (current: O) => P;

/** A client's request for a stream to a pod. `container` '' means the first one. */
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

/** Selects the log of the newest attempt, the previous one, or the one with this ID. */
export type LogChoice = { container: string; previous: boolean; containerId?: string };

/** The operations of the local API on the node. Errors are `PodwrightError`s; `not_found` names the absent object. */
export interface NodeBackend {
  info(): Promise<NodeInfo>;
  list(kind: ApiKind): ApiObject[];
  get(object: ObjectName<ApiKind>): ApiObject;
  watch(kind: ApiKind, signal: AbortSignal): ObjectWatch;
  /** Progress of all image transfers; ends at once if the runtime does not report transfers. */
  watchTransfers(signal: AbortSignal): AsyncIterable<ImageTransfer>;
  /** Creates or replaces all or none of the objects of a manifest. With `dryRun` it only reports the actions. */
  apply(manifest: string, options: ApplyOptions): Promise<ApplyResult>;
  /** Deletes an applied object. A pod terminates in the background. */
  remove(object: ObjectName<ApiKind>, gracePeriodSeconds: number | undefined): Promise<void>;
  /** Patches labels and annotations of an applied object; resolves with it once the kubelet has read the change. */
  patch(object: ObjectName<ApiKind>, change: PatchOf<ApiObject, MetadataPatch>): Promise<ApiObject>;
  /** Adds ephemeral containers to a running pod; resolves with the pod once it shows them. */
  addEphemeralContainers(pod: { namespace: string; name: string }, change: PatchOf<Pod, EphemeralPatch>): Promise<Pod>;
  /** Changes the CPU and memory of an applied pod; resolves with the pod once it shows them. */
  resize(pod: { namespace: string; name: string }, change: PatchOf<Pod, ResizePatch>): Promise<ApiObject>;
  /** Changes conditions of a pod that the kubelet does not set itself, such as those of readiness gates; returns the pod. */
  patchStatus(pod: { namespace: string; name: string }, patch: ConditionsPatch): ApiObject;
  /** The log file of a container's attempt; `ended` aborts when the log no longer grows, or when `signal` aborts. */
  log(
    pod: { namespace: string; name: string },
    which: LogChoice,
    signal: AbortSignal,
  ): Promise<LogSource & { ended: LogEnd['ended'] }>;
  /** Requests the URL for a stream from the runtime. */
  streamingUrl(pod: { namespace: string; name: string }, call: StreamingCall): Promise<string>;
  /** Restarts containers of a pod in place, without waiting for them. */
  restart(pod: { namespace: string; name: string }, container: string | undefined): RestartAnswer;
  traces(podUid: string): Promise<TraceSpan[]>;
  /** The CPU and memory use of the containers of all pods, and of the whole host. */
  usage(signal: AbortSignal): Promise<UsageReport>;
  hostUsage(signal: AbortSignal): Promise<ContainerUse>;
  /** Stops the daemon; called after the response was sent. */
  stop(options: StopOptions): void;
}
