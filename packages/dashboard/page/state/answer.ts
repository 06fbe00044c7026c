/** An answer of the server that a component shows, read again at times. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/request.ts';

export type Answer<T> = { value?: T; error?: unknown; isReading: boolean; again(): void };

type AnswerOptions = {
  /** Reads again so long after an answer; absent for answers that are read once. */
  periodMs?: number;
};

/** Calls `read` when the component is shown, and when `keys` change. The last value stays while a new one is read, and after a failure. */
export function useAnswer<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  { periodMs }: AnswerOptions = {},
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
        next();
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...keys, round]);
  return { ...answer, again: () => setRound((one) => one + 1) };
}

export const errorText = (error: unknown): string | undefined => (error === undefined ? undefined : messageOf(error));
