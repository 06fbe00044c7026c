import type { RemoteProcess, StreamChoice } from '../remote-process.ts';
import type { PortDialer } from './port-forward.ts';

/** The request behind a streaming URL: a command to run, a container to attach to, or ports to forward. */
export type StreamingRequest =
  | {
      kind: 'exec' | 'attach';
      choice: StreamChoice;
      /**
       * Starts or attaches to the process. Called once, when the client has connected. `signal` aborts when the client disconnects; a
       * process returned after that will be closed. `terminal` is the client's TERM, if it sent one.
       */
      start: (signal: AbortSignal, terminal?: string) => Promise<RemoteProcess>;
    }
  | {
      kind: 'portforward';
      dial: PortDialer;
      /** The requested ports, for clients of the oldest WebSocket protocol, which cannot name them on the wire. */
      ports?: number[];
    };
