import type { ObservedRequest, RequestObserver } from '../server/request-observer.ts';
import { auditEvent } from './audit-event.ts';
import { type AuditDecision, type AuditPolicy, type AuditStage, hasSecretBodies } from './audit-policy.ts';

export type AuditLogParts = {
  policy: AuditPolicy;
  /** Writes an audit event, encoded as a single line of JSON, to the log. */
  write: (line: string) => void;
  /** Returns a promise to await before handling new requests while the log lags behind (see `RequestObserver`). */
  room?: () => Promise<void> | undefined;
  now: () => number;
};

/**
 * Maximum size of an event. Larger ones are not dropped, but logged without bodies and, if that is not enough, without admission
 * annotations.
 */
const MAX_EVENT_BYTES = 1 << 20;

/** Writes audit events according to a policy. */
export class AuditLog implements RequestObserver {
  readonly #parts: AuditLogParts;
  readonly #decisions = new WeakMap<ObservedRequest, AuditDecision>();

  constructor(parts: AuditLogParts) {
    this.#parts = parts;
  }

  room(): Promise<void> | undefined {
    return this.#parts.room?.();
  }

  received(request: ObservedRequest): void {
    const decision = this.#decide(request);
    const { level } = decision;
    // collects bodies at every level, because even events at level `Metadata` contain the Status of an error
    if (level !== 'None') request.bodies = {};
    this.#log(request, decision, { stage: 'RequestReceived' });
  }

  started(request: ObservedRequest): void {
    this.#log(request, this.#decide(request), { stage: 'ResponseStarted', status: 200 });
  }

  completed(request: ObservedRequest, status: number): void {
    this.#log(request, this.#decide(request), { stage: 'ResponseComplete', status });
  }

  #decide(request: ObservedRequest): AuditDecision {
    const known = this.#decisions.get(request) ?? this.#parts.policy.decide(request);
    this.#decisions.set(request, known);
    return known;
  }

  #log(request: ObservedRequest, decision: AuditDecision, moment: { stage: AuditStage; status?: number }): void {
    if (decision.level === 'None' || decision.omitStages.includes(moment.stage)) return;
    const { write, now } = this.#parts;
    const lineOf = (level: AuditDecision['level'], observed = request) =>
      JSON.stringify(auditEvent(observed, { ...decision, level }, { ...moment, nowMs: now() }));
    const whole = lineOf(hasSecretBodies(request) ? 'Metadata' : decision.level);
    const line = whole.length > MAX_EVENT_BYTES ? lineOf('Metadata') : whole;
    write(line.length > MAX_EVENT_BYTES ? lineOf('Metadata', withoutAnnotations(request)) : line);
  }
}

function withoutAnnotations(request: ObservedRequest): ObservedRequest {
  const { annotations: _, ...bodies } = request.bodies ?? {};
  return { ...request, bodies };
}
