import type { ErrorCode } from '@podwright/base';

/** A rule's effects on the calls it matches, applied in the order of these fields. */
export type Effects = {
  /** Delay in ms before the runtime receives the call. */
  delayMs: number;
  /** Maximum random delay in ms to add to `delayMs`. */
  jitterMs: number;
  /** Fails the call: with `before`, the runtime does not receive it; with `after`, the runtime has completed it. */
  fail?: { code: ErrorCode; message: string; when: 'before' | 'after' };
  /**
   * Resets the call or closes the client's connection, either after `afterMessages` response messages or, if undefined, before the runtime
   * receives the call.
   */
  cut?: { what: 'call' | 'connection'; afterMessages: number | undefined };
  /** How many additional times the runtime receives the call or, for a stream, the client receives each message. */
  repeat: number;
  /**
   * Responses, or the messages of a stream, are held until there are `size` of them or `withinMs` have passed, and then sent in random
   * order.
   */
  reorder?: { size: number; withinMs: number };
  /** Delay in ms before the proxy forwards a response, or each message of a stream. */
  delayAnswerMs: number;
};

/** A rule for calls that match all of its patterns. */
export type Rule = {
  /** The rule's line number in the file. */
  line: number;
  method: string;
  pod: string | undefined;
  container: string | undefined;
  /** Number of matching calls to leave unchanged first. Of the calls after that, at most `count` are changed. */
  skip: number;
  count: number;
  /** Fraction of calls to change, between 0 and 1. `count` includes only changed calls. */
  probability: number;
  effects: Effects;
};

export type Script = { seed: number | undefined; rules: Rule[] };
