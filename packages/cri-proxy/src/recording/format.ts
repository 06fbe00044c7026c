import type { JsonValue } from '@bufbuild/protobuf';
import type { HeaderField } from '@podwright/grpc';

/** Identifies recordings of this format: JSON lines, starting with a header. See docs/cri-proxy.md. */
export const RECORDING_FORMAT = 'podwright-cri';
export const RECORDING_VERSION = 1;

/** The first line of a recording. */
export type RecordingHeader = {
  recording: typeof RECORDING_FORMAT;
  version: number;
  /** When the recording was started (RFC 3339). */
  startedAt: string;
};

/**
 * Messages in protobuf's JSON format. If a message has unknown fields, `requestBytes` or `responseBytes` contains the whole message in
 * base64.
 */
type Bodies = {
  request?: JsonValue;
  requestBytes?: string;
  response?: JsonValue;
  responseBytes?: string;
};

/**
 * How a call ended. `status` is absent if it succeeded. `trailers` excludes trailers covered by `status` and trailers that every call has.
 */
type Ending = { status?: { code: number; message: string }; trailers?: HeaderField[] };

/** The line for a call with a single response message, written when the call has ended. */
export type UnaryLine = Bodies & Ending & { call: number; at: string; method: string; tookMs: number };

/** The line for a call with a response stream, written when the call starts. */
export type StreamLine = Pick<Bodies, 'request' | 'requestBytes'> & {
  call: number;
  at: string;
  method: string;
  stream: 'open';
};
/** The line for one message of a response stream. */
export type MessageLine = Pick<Bodies, 'response' | 'responseBytes'> & { call: number; at: string };
/** The line for the end of a response stream. */
export type EndLine = Ending & { call: number; at: string; stream: 'end'; tookMs: number };
