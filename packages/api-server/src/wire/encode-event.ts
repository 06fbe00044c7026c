import { type FailureStatus, StoredObject } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import {
  apiVersionOf,
  decodeJson,
  encodeWatchEvent,
  type JsonObject,
  PROTOBUF_MEDIA_TYPE,
} from '@podwright/kube-schema';
import { isStoredForm } from './encode-response.ts';
import { tableValue } from './encode-table.ts';
import { type AnyObject, decoded, metadataOf, type ResourceEncoding, revisionOf } from './response-content.ts';

/** A watch event. */
export type OutputEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: StoredObject }
  /** A bookmark: all changes up to this revision have been sent. One bookmark may mark the end of the initial events. */
  | { type: 'BOOKMARK'; revision: number; isInitialEnd: boolean }
  | { type: 'ERROR'; status: FailureStatus };

export type EventEncoding = ResourceEncoding & {
  /**
   * Whether this is the watch's first event. If the client requested tables, only the table of the first event includes the column
   * definitions.
   */
  isFirst: boolean;
};

/** The buffers that make up an encoded event, to be written in order. */
type Frame = readonly Uint8Array[];

/**
 * The encoded frames of an event's object, by output format. `second`: the time, in Unix seconds, for which the ages in a table were
 * computed.
 */
type Frames = Map<string, { frame: Promise<Frame>; second: number }>;

const FRAME_END = Buffer.from('}\n');
const JSON_FRAME_BEGINS = new Map(
  ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`),
  ]),
);

/**
 * Encodes watch events. All watches of a server share one encoder, so that an event is encoded only once per format even if thousands of
 * watches send it at the same time; tables, which contain ages, are encoded once per second. The encodings are cached until the next
 * garbage collection, like the decoded form of a `StoredObject`.
 */
export class EventEncoder {
  readonly #shared = new WeakMap<StoredObject, WeakRef<Frames>>();

  async encode(event: OutputEvent, encoding: EventEncoding): Promise<Frame> {
    const { type } = event;
    const { format, resource, includeObject, isFirst, nowMs } = encoding;
    const { mediaType, convertTo } = format;
    if (event.type === 'ERROR') return frameOf(type, { ...event.status }, encoding);
    const object = event.type === 'BOOKMARK' ? bookmarkOf(event, encoding) : event.object;
    const options = withInitialEnd(event, encoding);
    const encode = async () => frameOf(type, await converted(object, options), encoding);
    if (!(object instanceof StoredObject)) return encode();
    if (convertTo === undefined && isStoredForm(format)) return [JSON_FRAME_BEGINS.get(type)!, object.bytes, FRAME_END];
    const { group, version } = resource;
    const isTable = convertTo?.kind === 'Table';
    const conversion = [convertTo?.kind, convertTo?.version, ...(isTable ? [includeObject, isFirst] : [])];
    const key = [type, mediaType, ...conversion, group, version].join();
    const second = isTable ? Math.floor(nowMs / 1000) : 0;
    const frames = this.#framesOf(object);
    const known = frames.get(key);
    if (known?.second === second) return known.frame;
    const frame = encode(); // not awaited before it is shared
    frames.set(key, { frame, second });
    return frame;
  }

  #framesOf(object: StoredObject): Frames {
    const known = this.#shared.get(object)?.deref();
    if (known !== undefined) return known;
    const frames: Frames = new Map();
    this.#shared.set(object, new WeakRef(frames));
    return frames;
  }
}

/** Bookmark annotation that marks the end of the initial events (KEP-3157). */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Builds a bookmark's object. As in upstream, it has no name but includes the fields that Go never omits. */
function bookmarkOf(
  { revision, isInitialEnd }: Extract<OutputEvent, { type: 'BOOKMARK' }>,
  { schema, resource }: ResourceEncoding,
): ApiObject {
  const metadata = {
    resourceVersion: String(revision),
    ...(isInitialEnd && { annotations: { [INITIAL_EVENTS_END]: 'true' } }),
  };
  const bookmark = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
  const type = schema.kind(resource);
  return (type === undefined ? bookmark : decodeJson(bookmark, { schema, type }).object) as ApiObject;
}

/**
 * Returns the encoding for an event. For the bookmark that marks the end of the initial events, table rows include the object's metadata,
 * because that is where clients look for the annotation.
 */
function withInitialEnd(event: OutputEvent, encoding: EventEncoding): EventEncoding {
  const isEnd = event.type === 'BOOKMARK' && event.isInitialEnd && encoding.includeObject === 'None';
  return isEnd ? { ...encoding, includeObject: 'Metadata' } : encoding;
}

/** Returns an event's object in the form to be encoded, converted if the client requested it. */
export async function eventValue(event: OutputEvent, encoding: EventEncoding): Promise<JsonObject> {
  if (event.type === 'ERROR') return { ...event.status };
  const object = event.type === 'BOOKMARK' ? bookmarkOf(event, encoding) : event.object;
  return converted(object, withInitialEnd(event, encoding));
}

async function converted(object: AnyObject, encoding: EventEncoding): Promise<JsonObject> {
  const { convertTo } = encoding.format;
  switch (convertTo?.kind) {
    case undefined:
      return decoded(object);
    case 'Table': {
      const content = { objects: [object], resourceVersion: revisionOf(object), noHeaders: !encoding.isFirst };
      return tableValue(content, convertTo, encoding);
    }
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return metadataOf(object, convertTo);
  }
}

function frameOf(type: string, value: JsonObject, { format, schema }: ResourceEncoding): Frame {
  if (format.mediaType === PROTOBUF_MEDIA_TYPE) return [encodeWatchEvent(schema, { type, object: value })];
  return [JSON_FRAME_BEGINS.get(type)!, Buffer.from(JSON.stringify(value)), FRAME_END];
}
