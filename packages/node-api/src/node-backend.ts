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

/** Any object that a node can list. */
export type ApiObject = Pod | LocalObject | Event | NodeObject;
export type ApiKind = ApiObject['kind'];

/** A kind's existing objects, and all later changes. No change is missed or reported twice. */
export type ObjectWatch = { present: ApiObject[]; changes: AsyncIterable<WatchEvent<ApiObject>> };

/** Identifies an object; the namespace is '' for cluster-scoped kinds. */
export type ObjectName<K extends string = string> = { kind: K; namespace: string; name: string };

/** Computes an object's patch. Called under a lock, so that the object cannot change meanwhile. */
export type PatchOf<O, P> = (current: O) => P;

/** A client's request for a stream to a pod. An empty `container` selects the pod's first container. */
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

/** Selects the log of the container's latest instance, the previous one, or the one with this ID. */
export type LogChoice = { container: string; previous: boolean; containerId?: string };

/** The operations that the local API performs on the node. Errors are `PodwrightError`s; `not_found` errors name the missing object. */
export interface NodeBackend {
  info(): Promise<NodeInfo>;
  list(kind: ApiKind): ApiObject[];
  get(object: ObjectName<ApiKind>): ApiObject;
  watch(kind: ApiKind, signal: AbortSignal): ObjectWatch;
  /** Reports the progress of all image transfers. Ends immediately if the container runtime does not report it. */
  watchTransfers(signal: AbortSignal): AsyncIterable<ImageTransfer>;
  /** Creates or replaces all objects of a manifest, or none. With `dryRun`, only reports the actions. */
  apply(manifest: string, options: ApplyOptions): Promise<ApplyResult>;
  /** Deletes an applied object. Pods terminate in the background. */
  remove(object: ObjectName<ApiKind>, gracePeriodSeconds: number | undefined): Promise<void>;
  /** Throws `failed_precondition` if the pod comes from a manifest, because the kubelet would recreate it. */
  refuseFromFile(pod: { namespace: string; name: string }): void;
  /** Patches the labels and annotations of an applied object. Resolves with the object once the kubelet has read the change. */
  patch(object: ObjectName<ApiKind>, change: PatchOf<ApiObject, MetadataPatch>): Promise<ApiObject>;
  /** Adds ephemeral containers to a running pod. Resolves with the pod once the change is visible in it. */
  addEphemeralContainers(pod: { namespace: string; name: string }, change: PatchOf<Pod, EphemeralPatch>): Promise<Pod>;
  /** Changes the CPU and memory of an applied pod. Resolves with the pod once the change is visible in it. */
  resize(pod: { namespace: string; name: string }, change: PatchOf<Pod, ResizePatch>): Promise<ApiObject>;
  /** Changes a pod's conditions that the kubelet does not set itself, such as those for readiness gates; returns the pod. */
  patchStatus(pod: { namespace: string; name: string }, patch: ConditionsPatch): ApiObject;
  /** Returns the log file of a container instance. `ended` aborts when the log stops growing or `signal` aborts. */
  log(
    pod: { namespace: string; name: string },
    which: LogChoice,
    signal: AbortSignal,
  ): Promise<LogSource & { ended: LogEnd['ended'] }>;
  /** Requests a streaming URL from the container runtime. */
  streamingUrl(pod: { namespace: string; name: string }, call: StreamingCall): Promise<string>;
  /** Restarts a pod's containers in place, without waiting for them. */
  restart(pod: { namespace: string; name: string }, container: string | undefined): RestartAnswer;
  traces(podUid: string): Promise<TraceSpan[]>;
  /** Returns the CPU and memory usage of all pods' containers; `hostUsage` covers the whole host. */
  usage(signal: AbortSignal): Promise<UsageReport>;
  hostUsage(signal: AbortSignal): Promise<ContainerUse>;
  /** Stops the daemon. Called after the response has been sent. */
  stop(options: StopOptions): void;
}
