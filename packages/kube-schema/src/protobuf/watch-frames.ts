/**
 * Watch events in protobuf. Each event is a frame: a 4-byte big-endian length followed by a `meta.v1.WatchEvent` whose object is a complete
 * encoded object (k8s.io/apimachinery, util/framer and runtime/serializer/streaming).
 */
import { BoundedBytes, PodwrightError } from '@podwright/base';
import type { JsonObject } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { knownFields } from './known-fields.ts';
import type { DecodeLimits } from './limits.ts';
import { decodeObject, encodeObject } from './object-codec.ts';
import { BYTES, WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. The object of an ERROR event is a `Status`. */
export type WatchEvent = { type: string; object: JsonObject };

const LENGTH_BYTES = 4;

/** Maximum frame size that upstream's clients accept. */
const MAX_FRAME_BYTES = 16 << 20;

/** Encodes an event as a frame. Throws the same errors as `encodeObject`. */
export function encodeWatchEvent(schema: Schema, { type, object }: WatchEvent): Uint8Array {
  const writer = new WireWriter();
  const encoded = encodeObject(schema, object);
  writer.messageField(2, () => writer.bytesField(1, encoded));
  writer.stringField(1, type);
  const message = writer.finish();
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  frame.writeUInt32BE(message.length);
  frame.set(message, LENGTH_BYTES);
  return frame;
}

/** Splits a response body into watch events, chunk by chunk. */
export class WatchFrames {
  readonly #schema: Schema;
  readonly #limits: DecodeLimits;
  readonly #maxFrameBytes: number;
  readonly #pending: BoundedBytes;

  constructor(
    schema: Schema,
    { maxFrameBytes = MAX_FRAME_BYTES, ...limits }: DecodeLimits & { maxFrameBytes?: number } = {},
  ) {
    this.#schema = schema;
    this.#limits = limits;
    this.#maxFrameBytes = maxFrameBytes;
    this.#pending = new BoundedBytes(LENGTH_BYTES + maxFrameBytes);
  }

  /**
   * Yields the events that a chunk completes, in order. Throws the same errors as `decodeObject`, and `resource_exhausted` if a frame is
   * too large.
   */
  *add(chunk: Uint8Array): Generator<WatchEvent> {
    let rest = chunk;
    while (rest.length > 0) {
      const missing = this.#missing();
      this.#pending.add(rest.subarray(0, missing));
      rest = rest.subarray(missing);
      if (this.#pending.sizeBytes < LENGTH_BYTES || this.#missing() > 0) continue;
      yield this.#event(WireReader.of(this.#pending.bytes(), LENGTH_BYTES));
      this.#pending.clear();
    }
  }

  /** Returns the number of bytes still needed to complete the pending frame length or frame. */
  #missing(): number {
    const bytes = this.#pending.bytes();
    if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES - bytes.length;
    const length = bytes.readUInt32BE();
    if (length > this.#maxFrameBytes)
      throw new PodwrightError(
        'resource_exhausted',
        `read watch: a frame of ${length} bytes is over ${this.#maxFrameBytes}`,
      );
    return LENGTH_BYTES + length - bytes.length;
  }

  #event(reader: WireReader): WatchEvent {
    let [type, encoded]: [string, Uint8Array] = ['', new Uint8Array()];
    for (const number of knownFields(reader, { 1: BYTES, 2: BYTES }))
      if (number === 1) type = reader.string();
      else {
        const extension = reader.message();
        for (const _ of knownFields(extension, { 1: BYTES })) encoded = extension.bytes();
      }
    return { type, object: decodeObject(this.#schema, encoded, this.#limits) };
  }
}
