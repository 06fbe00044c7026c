import type { JsonValue } from '@bufbuild/protobuf';
import type { HeaderField } from '@podwright/grpc';

/** The format of recordings: JSON lines, of which the first is the header. docs/cri-proxy.md describes it. */
export const RECORDING_FORMAT = 'podwright-cri';
export const RECORDING_VERSION = 1;

/** The first line. */
export type RecordingHeader = {
  recording: typeof RECORDING_FORMAT;
  version: number;
  /** RFC 3339. */
  startedAt: string;
};

/** Messages as protobuf's JSON. If a message has unknown fields, `requestBytes` or `responseBytes` is the whole message in base64. */
type Bodies = {
  request?: JsonValue;
  requestBytes?: string;
  response?: JsonValue;
  responseBytes?: string;
};

/** How a failed call ended; both fields are absent if it succeeded. `trailers` excludes those for the code and the message. */
type Ending = { status?: { code: number; message: string }; trailers?: HeaderField[] };

/** A call with one answer, written when it has ended. */
export type UnaryLine = Bodies & Ending & { call: number; at: string; method: string; tookMs: number };

/** A call with a stream of answers, written when it begins. */
export type StreamLine = Pick<Bodies, 'request' | 'requestBytes'> & {
  call: number;
  at: string;
  method: string;
  stream: 'open';
};
/** An answer of a stream. */
export type MessageLine = Pick<Bodies, 'response' | 'responseBytes'> & { call: number; at: string };
/** The end of a stream. */
export type EndLine = Ending & { call: number; at: string; stream: 'end'; tookMs: number };
