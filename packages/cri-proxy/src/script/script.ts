import type { ErrorCode } from '@podwright/base';

/** The effects of a rule on the calls that it matches. They happen in the order of these fields. */
export type Effects = {
  /** Time in ms until the runtime receives the call. */
  delayMs: number;
  /** A random time in ms, up to this, that is added to `delayMs`. */
  jitterMs: number;
  /** The call fails: with `before`, the runtime does not receive it; with `after`, the runtime has completed it. */
  fail?: { code: ErrorCode; message: string; when: 'before' | 'after' };
  /**
   * The proxy resets the call, or closes the connection of its client: after `afterMessages` of the answer, or before the runtime receives
   * the call.
   */
  cut?: { what: 'call' | 'connection'; afterMessages: number | undefined };
  /** How many more times the runtime receives the call; for a stream, how many more times the client receives each message. */
  repeat: number;
  /** Answers, or messages of a stream, are held until there are `size`, or for `withinMs`, and then sent in a random order. */
  reorder?: { size: number; withinMs: number };
  /** Time in ms between the answer of the runtime and that of the proxy. */
  delayAnswerMs: number;
};

/** A rule for calls that match all of its patterns. */
export type Rule = {
  /** Line of the rule in its file. */
  line: number;
  method: string;
  pod: string | undefined;
  container: string | undefined;
  /** Number of matching calls that pass unchanged first. Of the following ones, at most `count` are changed. */
  skip: number;
  count: number;
  /** Share of the calls that are changed, between 0 and 1. `count` counts only these. */
  probability: number;
  effects: Effects;
};

export type Script = { seed: number | undefined; rules: Rule[] };
