import type { Event, Pod } from '../api/types.ts';
import type { LogEnd } from '../logs/log-reader.ts';
import type { TraceSpan } from '../trace/pod-tracer.ts';
import type {
  ApplyResult,
  EventWatchEvent,
  ImageTransfer,
  NodeInfo,
  PodWatchEvent,
  RestartAnswer,
  StopOptions,
} from './local-api.ts';

/** Names one object of a namespace. */
export type ObjectName = { kind: string; namespace: string; name: string };

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
  pods(): Pod[];
  /** Begins with every pod that is there, as ADDED. */
  watchPods(signal: AbortSignal): AsyncIterable<PodWatchEvent>;
  events(): Event[];
  watchEvents(signal: AbortSignal): AsyncIterable<EventWatchEvent>;
  /** Progress of all transfers of images; ends at once if the runtime tells none. */
  watchTransfers(signal: AbortSignal): AsyncIterable<ImageTransfer>;
  /** Creates or replaces the objects of a manifest; all or none. With `dryRun` it only tells what it would do. */
  apply(manifest: string, options: { dryRun: boolean }): Promise<ApplyResult>;
  /** Deletes an object that was applied. A pod ends in the background. */
  remove(object: ObjectName, gracePeriodSeconds: number | undefined): Promise<void>;
  /** Where the log of a container, or of one attempt of it, is; `ended` aborts when it will not grow any more, or `signal` does. */
  log(
    pod: { namespace: string; name: string },
    which: LogChoice,
    signal: AbortSignal,
  ): Promise<{ path: string; ended: LogEnd['ended'] }>;
  /** The runtime's URL for a stream. */
  streamingUrl(pod: { namespace: string; name: string }, call: StreamingCall): Promise<string>;
  /** Restarts containers of a pod in place; they are not waited for. */
  restart(pod: { namespace: string; name: string }, container: string | undefined): RestartAnswer;
  traces(podUid: string): TraceSpan[];
  /** Ends the daemon, after the answer was sent. */
  stop(options: StopOptions): void;
}
