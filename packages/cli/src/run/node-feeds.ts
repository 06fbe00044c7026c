import { errorMessage } from '@podwright/base';
import type { Event } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { isLostConnection, isNoNode } from '../client/unix-http.ts';
import { printError } from '../output/terminal-text.ts';
import type { HeldEvents } from './held-events.ts';
import type { RunView } from './run-view.ts';

export type FeedOptions = {
  client: NodeClient;
  view: RunView;
  /** Called for each progress report of an image transfer. */
  onTransfer: () => void;
  signal: AbortSignal;
};

/** Reasons of warning events whose message is also in the container's status, where the user sees it. */
const REPEATED_BY_STATE = new Set(['Failed', 'BackOff']);

/** Shows the progress of image transfers. Errors are ignored: if the node stops, the pod watch reports it. */
async function showTransfers({ client, view, onTransfer, signal }: FeedOptions): Promise<void> {
  try {
    for await (const transfer of client.watchTransfers(signal)) {
      onTransfer();
      view.transfer(transfer);
    }
  } catch {
    // ignore the error: the progress of image transfers is not essential
  }
}

/**
 * Shows the events of objects with these UIDs; more UIDs may be added over time. For pods in `old`, shows only new events. Stores each
 * pod's last warning in `warnings`, by UID. Image transfers are not requested until an image is pulled, to save the node that work while it
 * is starting the pods.
 */
export async function showEvents(feed: EventFeed): Promise<void> {
  const { signal, uids, old } = feed;
  const transfers: Transfers = {};
  let known = old;
  while (!signal.aborted) {
    try {
      await showConnection(feed, { known, sinceMs: Date.now(), transfers });
      break;
    } catch (error) {
      if (signal.aborted || isNoNode(error)) break; // the watch of the pods reports the stopped node
      if (!isLostConnection(error)) {
        printError(`podwright: events cannot be read: ${errorMessage(error)}`);
        break;
      }
      known = uids(); // a node that restarts sends the earlier events again
    }
  }
  await transfers.shown;
}

type EventFeed = FeedOptions & {
  uids: () => ReadonlySet<string>;
  old: ReadonlySet<string>;
  warnings: Map<string, Event>;
} & {
  /** Set if this command might have created objects that it has not seen yet: holds their events until they appear. */
  held?: HeldEvents;
};

/**
 * The progress display of image transfers. `shown` resolves once transfers are no longer displayed; it is unset until an image is pulled.
 */
type Transfers = { shown?: Promise<void> };

/** Shows the events received over one connection. For pods in `known`, only events since `sinceMs` are shown. */
async function showConnection(
  feed: EventFeed,
  { known, sinceMs, transfers }: { known: ReadonlySet<string>; sinceMs: number; transfers: Transfers },
): Promise<void> {
  const { client, signal, uids, held } = feed;
  // a node may have thousands of events, so filter by UID on the server if there is only one pod
  const [only, ...others] = feed.held !== undefined ? [] : uids();
  for await (const { object } of client.watchEvents(signal, others.length > 0 ? undefined : only)) {
    const { uid } = object.involvedObject;
    const isRecent = Date.parse(object.lastTimestamp) >= wholeSecond(sinceMs);
    if (uids().has(uid)) {
      const isNew = !known.has(uid) || isRecent;
      if (object.reason === 'Pulling' && isNew) transfers.shown ??= showTransfers(feed);
      showEvent(object, feed, isNew);
    } else if (isRecent) held?.hold(object);
  }
}

/**
 * Shows an event if `isNew`. Stores it as its object's last warning if it is one. Ignores events whose message also appears in the
 * container's state.
 */
export function showEvent(object: Event, { view, warnings }: Pick<EventFeed, 'view' | 'warnings'>, isNew = true): void {
  const { type, reason, involvedObject } = object;
  if (REPEATED_BY_STATE.has(reason)) return;
  if (type === 'Warning') warnings.set(involvedObject.uid, object);
  if (isNew) view.event(object);
}

/** Rounds a time down to a whole second, the resolution of event timestamps. */
const wholeSecond = (ms: number) => ms - (ms % 1000);
