import type { RemoteProcess, StreamChoice } from '../remote-process.ts';
import type { PortDialer } from './port-forward.ts';

/** What waits behind a URL: a command to run or attach to, or ports to reach. */
export type StreamingRequest =
  | {
      kind: 'exec' | 'attach';
      choice: StreamChoice;
      /**
       * Called once, when the client has come; `signal` aborts when it goes. A process that is returned all the same is
       * closed. `terminal` is the client's TERM, if it told.
       */
      start: (signal: AbortSignal, terminal?: string) => Promise<RemoteProcess>;
    }
  | {
      kind: 'portforward';
      dial: PortDialer;
      /** The ports of clients that cannot name them on the wire: those of the oldest WebSocket protocol. */
      ports?: number[];
    };
