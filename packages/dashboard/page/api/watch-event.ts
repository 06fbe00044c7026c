/** Decodes watch events. Pure functions. */
import type { KubeObject } from './objects.ts';
import { ApiError } from './request.ts';

export type Change<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T };

export type WatchMessage<T> =
  | { kind: 'change'; change: Change<T> }
  | { kind: 'bookmark'; resourceVersion: string }
  /** The server ended the watch, for example with code 410 because the resource version is too old. */
  | { kind: 'error'; error: ApiError };

/** Decodes a line of a watch. Returns undefined for unknown event types. Throws if the line is not JSON. */
export function watchMessage<T extends KubeObject>(line: string): WatchMessage<T> | undefined {
  const { type, object } = JSON.parse(line) as { type?: string; object?: T & Status };
  if (object === undefined) return undefined;
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
    return { kind: 'change', change: { type, object } };
  if (type === 'BOOKMARK') return { kind: 'bookmark', resourceVersion: object.metadata?.resourceVersion ?? '' };
  if (type === 'ERROR') return { kind: 'error', error: new ApiError(object.code ?? 500, object) };
  return undefined;
}

type Status = { code?: number; reason?: string; message?: string };
