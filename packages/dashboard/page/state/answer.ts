/** A hook for a component that shows an answer of the server. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/request.ts';

/** `value` is the last answer, `error` the failure of the last attempt. `again` reads at once. */
export type Answer<T> = { value?: T; error?: unknown; isReading: boolean; again(): void };

type AnswerOptions = {
  /** Time after an answer or a failure at which it is read again; undefined to read once. */
  periodMs?: number;
  /** Reports whether an error ends the periodic reading. */
  isFinal?(error: unknown): boolean;
};

/**
 * Calls `read` when the component is shown, when `keys` change, and periodically. The last value is kept while it is read again and after a
 * failure, and is dropped when `keys` change.
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

/** Returns the message of an error; undefined without one. */
export const errorText = (error: unknown): string | undefined => (error === undefined ? undefined : messageOf(error));
