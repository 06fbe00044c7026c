import type { ErrorCode } from '@podwright/base';

/** What a rule does to the calls that it is for. Several effects of one rule happen in the order of these fields. */
export type Effects = {
  /** Time in ms until the runtime receives the call. */
  delayMs: number;
  /** A random time in ms, up to this, that is added to `delayMs`. */
  jitterMs: number;
  /** The call fails: `before`, without the runtime; `after`, although the runtime has done it. */
  fail?: { code: ErrorCode; message: string; when: 'before' | 'after' };
  /** The call, or the whole connection of its client, is cut: before the runtime receives it, or after so many messages of the answer. */
  cut?: { what: 'call' | 'connection'; afterMessages: number | undefined };
  /** The runtime receives the call so many times more; each message of a stream is sent so many times more. */
  repeat: number;
  /** Answers, or messages of a stream, are held until there are so many, or for `withinMs`, and then sent in a random order. */
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
  /** The first matching calls pass unchanged; then `count` calls are changed. */
  skip: number;
  count: number;
  /** Share of the calls that are changed, between 0 and 1. They alone count. */
  probability: number;
  effects: Effects;
};

export type Script = { seed: number | undefined; rules: Rule[] };
