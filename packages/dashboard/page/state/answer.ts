/** A hook for components that show a response from the server. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/request.ts';

/** `value`: the last response. `error`: the failure of the last attempt. `again`: reads immediately. */
export type Answer<T> = { value?: T; error?: unknown; isReading: boolean; again(): void };

type AnswerOptions = {
  /** Delay before reading again after a response or failure. If unset, reads only once. */
  periodMs?: number;
  /** Returns whether an error ends the periodic reads. */
  isFinal?(error: unknown): boolean;
};

/**
 * Calls `read` when the component is first shown, when `keys` change, and periodically. The last value is retained during reads and after
 * failures, but not when `keys` change.
 */
export function useAnswer<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  { periodMs, isFinal }: AnswerOptions = {},
): Answer<T> {
  const [answer, setAnswer] = useState<{ value?: T; error?: unknown; isReading: boolean }>({ isReading: true });
  const [round, setRound] = useState(0);
  useEffect(() => setAnswer({ isReading: true }), keys);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = () => {
      if (periodMs !== undefined) timer = setTimeout(() => setRound((one) => one + 1), periodMs);
    };
    read(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        setAnswer({ value, isReading: false });
        next();
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setAnswer((before) => ({ value: before.value, error, isReading: false }));
        if (!isFinal?.(error)) next();
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...keys, round]);
  return { ...answer, again: () => setRound((one) => one + 1) };
}

/** Returns an error's message, or undefined if there is no error. */
export const errorText = (error: unknown): string | undefined => (error === undefined ? undefined : messageOf(error));
