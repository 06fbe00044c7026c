/**
 * Encodes long lists in slices, as fast as the client reads them, so that neither memory use nor pauses of the event loop depend on their
 * length.
 */
import { setImmediate } from 'node:timers/promises';
import type { StoredObject } from '@podwright/api-machinery';
import { encodeListItem, type JsonObject, listFrame, PROTOBUF_MEDIA_TYPE, type Schema } from '@podwright/kube-schema';
import { yamlText } from './encode-value.ts';
import type { OutputFormat } from './negotiation.ts';
import { decoded } from './response-content.ts';

/** A response body whose length is not known in advance. */
export type SlicedBody = { contentType: string; slices: AsyncIterable<Uint8Array> };

/**
 * A list to encode. `listWith` returns the list as JSON, containing only the given objects, and `empty` is the list without objects; the
 * field that holds the list's elements must be its last one.
 */
export type SlicedList = {
  objects: readonly StoredObject[];
  empty: JsonObject;
  listWith: (objects: readonly StoredObject[]) => Promise<JsonObject>;
  format: OutputFormat;
  schema: Schema;
  /** Waits until the next slice may be encoded. Default: yields to the event loop between slices. */
  turn?: (() => Promise<void>) | undefined;
};

/** Size of a slice, in bytes of stored objects. YAML slices are smaller because the YAML library is slow. */
const SLICE_BYTES = 64 << 10;
const YAML_SLICE_BYTES = 16 << 10;

/** Encodes a list in the format of the response. */
export function slicedList(list: SlicedList): SlicedBody {
  const { mediaType } = list.format;
  const encode =
    mediaType === PROTOBUF_MEDIA_TYPE ? protobufSlices : mediaType === 'application/yaml' ? yamlSlices : jsonSlices;
  return { contentType: mediaType, slices: encode(list) };
}

async function* jsonSlices(list: SlicedList): AsyncGenerator<Uint8Array> {
  const { isPretty } = list.format;
  const text = JSON.stringify(list.empty, null, isPretty ? 2 : undefined);
  let before = isPretty ? `${text.slice(0, -']\n}'.length)}\n` : text.slice(0, -']}'.length);
  for await (const elements of elementsOf(list, SLICE_BYTES)) {
    yield Buffer.from(before + (isPretty ? indented(elements) : JSON.stringify(elements).slice(1, -1)));
    before = isPretty ? ',\n' : ',';
  }
  yield Buffer.from(isPretty ? '\n  ]\n}' : ']}\n');
}

/** Formats list elements as indented JSON, one level deeper than at the top level. */
const indented = (elements: readonly unknown[]): string =>
  `  ${JSON.stringify(elements, null, 2).slice('[\n'.length, -'\n]'.length).replaceAll('\n', '\n  ')}`;

async function* yamlSlices(list: SlicedList): AsyncGenerator<Uint8Array> {
  const { empty } = list;
  const field = fieldOf(list);
  for (const name of Object.keys(empty).sort()) {
    if (name !== field) yield Buffer.from(await yamlText({ [name]: empty[name] }));
    else {
      yield Buffer.from(`${field}:\n`);
      for await (const elements of elementsOf(list, YAML_SLICE_BYTES)) yield Buffer.from(await yamlElements(elements));
    }
  }
}

async function yamlElements(elements: readonly unknown[]): Promise<string> {
  const texts = await Promise.all(elements.map((one) => yamlText(one)));
  return texts.map((text) => `- ${text.replaceAll(/\n(?=[^\n])/g, '\n  ')}`).join('');
}

/**
 * Encodes a list as protobuf. The items are encoded twice: the first time only to determine their total length, which has to be sent before
 * them.
 */
async function* protobufSlices(list: SlicedList): AsyncGenerator<Uint8Array> {
  let itemsBytes = 0;
  for await (const items of protobufItems(list)) itemsBytes += items.length;
  const { begin, end } = listFrame(list.schema, list.empty, itemsBytes);
  yield begin;
  yield* protobufItems(list);
  yield end;
}

async function* protobufItems(list: SlicedList): AsyncGenerator<Uint8Array> {
  const { schema, format } = list;
  for await (const objects of slicesOf(list, SLICE_BYTES)) {
    const items = format.convertTo === undefined ? objects.map(decoded) : (await list.listWith(objects)).items;
    yield Buffer.concat((items as JsonObject[]).map((item) => encodeListItem(schema, item)));
  }
}

/** Returns the name of the field for the list's elements. */
const fieldOf = ({ empty }: SlicedList): string => Object.keys(empty).at(-1)!;

async function* elementsOf(list: SlicedList, maxBytes: number): AsyncGenerator<unknown[]> {
  const field = fieldOf(list);
  for await (const objects of slicesOf(list, maxBytes)) yield (await list.listWith(objects))[field] as unknown[];
}

/** Splits the objects into slices of about `maxBytes`, waiting for a turn before each. */
async function* slicesOf({ objects, turn = setImmediate }: SlicedList, maxBytes: number) {
  let [begin, bytes] = [0, 0];
  for (const [index, object] of objects.entries()) {
    bytes += object.bytes.length;
    if (bytes < maxBytes && index < objects.length - 1) continue;
    await turn();
    yield objects.slice(begin, index + 1);
    [begin, bytes] = [index + 1, 0];
  }
}
