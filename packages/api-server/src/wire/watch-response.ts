import type { OutgoingHttpHeaders } from 'node:http';
import { ApiError, internalError } from '@podwright/api-machinery';
import { withTimeout } from '@podwright/base';
import type { EventEncoder, OutputEvent } from './encode-event.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { ResourceEncoding } from './response-content.ts';
import { GROUP_BYTES, piecesOf, waitForRoom, writeGroup } from './write-parts.ts';

/** Clients that do not read for this long are disconnected. If they are still alive, they resume the watch. */
const MAX_STALL_MS = 60_000;

/** How to send the events of a watch. */
export type WatchResponseOptions = {
  encoding: ResourceEncoding;
  encoder: EventEncoder;
  /** Aborts when the watch must end: at its timeout or on server shutdown. The iteration of events must then end soon. */
  signal: AbortSignal;
  /** How long a client can go without reading before it is disconnected. Default: one minute. */
  maxStallMs?: number;
};

/** A response writer that has not sent the response's headers yet. */
export type UnsentWriter = {
  exchange: Pick<HttpExchange, 'response'>;
  begin: (status: number, headers: OutgoingHttpHeaders) => void;
};

/**
 * Sends watch events until the iteration ends or the client disconnects. Batches are consumed no faster than the client reads them, so that
 * slow clients cost no memory: the store drops their events and then ends the watch. Errors thrown by the iteration are sent as ERROR
 * events.
 */
export async function sendWatch(
  events: AsyncIterable<readonly OutputEvent[]>,
  { writer, encoding, encoder, signal, maxStallMs = MAX_STALL_MS }: WatchResponseOptions & { writer: UnsentWriter },
): Promise<void> {
  const { response } = writer.exchange;
  const { mediaType } = encoding.format;
  const isJson = mediaType === 'application/json';
  writer.begin(200, { 'content-type': isJson ? mediaType : `${mediaType};stream=watch` });
  let isFirst = true;
  /** Whether only part of the last event has been written to the response. */
  let isCut = false;
  let group: Uint8Array[] = [];
  let bytes = 0;
  const flush = () => {
    writeGroup(response, group);
    [group, bytes] = [[], 0];
  };
  const send = async (batch: readonly OutputEvent[]): Promise<boolean> => {
    for (const event of batch) {
      let isBegun = false;
      for (const part of piecesOf(await encoder.encode(event, { ...encoding, nowMs: Date.now(), isFirst }))) {
        if (bytes >= GROUP_BYTES) {
          flush();
          isCut = isBegun;
          if (!(await hasRoom())) return false;
        }
        group.push(part);
        bytes += part.length;
        isBegun = true;
      }
      isFirst = false;
      isCut = false;
    }
    flush();
    return hasRoom();
  };
  const hasRoom = async () => {
    if (!response.writableNeedDrain) return !signal.aborted;
    using patience = withTimeout(signal, maxStallMs, 'send watch events');
    return await waitForRoom(response, patience); // the timer runs until then
  };
  try {
    for await (const batch of events) if (!(await send(batch))) break;
  } catch (error) {
    if (!signal.aborted) await send([{ type: 'ERROR', status: statusOf(error) }]);
  }
  if (isCut || (response.writableNeedDrain && !signal.aborted)) response.destroy();
  else response.end();
}

const statusOf = (error: unknown): ApiError['status'] =>
  (error instanceof ApiError ? error : internalError(error instanceof Error ? error.message : String(error))).status;
