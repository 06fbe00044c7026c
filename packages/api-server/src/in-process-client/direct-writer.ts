import type { JsonObject } from '@podwright/kube-schema';
import { apiVersionOf } from '@podwright/kube-schema';
import type { OutputEvent } from '../wire/encode-event.ts';
import { listValue, oneValue } from '../wire/encode-response.ts';
import type { Body } from '../wire/encode-value.ts';
import type { AnyObject, ObjectPage, ResourceEncoding } from '../wire/response-content.ts';
import { ResponseWriter } from '../wire/response-writer.ts';
import type { WatchResponseOptions } from '../wire/watch-response.ts';
import { copyJson } from './copy-json.ts';

/** The response to an in-process call: its HTTP status, and an object or text. */
export type DirectAnswer = { status: number; value: JsonObject | string };

/** Receives the events of a watch. The watch ends when the returned promise resolves. */
export type ReceiveWatch = (
  events: AsyncIterable<readonly OutputEvent[]>,
  options: WatchResponseOptions,
) => Promise<void>;

/** Captures the response to an in-process call as values, which the caller owns. */
export class DirectWriter extends ResponseWriter {
  answer: DirectAnswer | undefined;
  /** Receives the events of a watch. Must be set before a watch call is made. */
  receiveWatch: ReceiveWatch | undefined;

  override async object(status: number, object: AnyObject, encoding: ResourceEncoding): Promise<void> {
    this.#observe(object);
    this.answer = { status, value: copyJson(await oneValue(object, encoding.format.convertTo, encoding)) };
  }

  override async list(page: ObjectPage, encoding: ResourceEncoding): Promise<void> {
    const value = copyJson(await listValue(page, encoding.format.convertTo, encoding));
    this.answer = { status: 200, value: { ...value, items: withKind(value.items as JsonObject[], encoding) } };
  }

  override async bytes(status: number, { parts }: Body): Promise<void> {
    this.answer = { status, value: Buffer.concat(parts).toString() };
  }

  override async status(status: number, value: object): Promise<void> {
    this.#observe(value);
    this.answer = { status, value: copyJson(value) as JsonObject };
  }

  override async watch(events: AsyncIterable<readonly OutputEvent[]>, options: WatchResponseOptions): Promise<void> {
    if (this.receiveWatch === undefined) throw new Error('the caller does not expect a watch');
    await this.receiveWatch(events, options);
  }

  override begin(): never {
    throw new Error('a call in this process has no stream');
  }

  #observe(response: object): void {
    const { bodies } = this.exchange;
    if (bodies !== undefined) bodies.response = response;
  }
}

const withKind = (items: readonly JsonObject[], { resource }: ResourceEncoding): JsonObject[] =>
  items.map((item) => ({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...item }));
