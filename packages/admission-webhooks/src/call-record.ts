/** Records a webhook call in metrics, in audit annotations and, if it failed, in the log. */
import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { Logger } from '@podwright/base';
import { CallError, Rejection } from './call-error.ts';
import type { Call } from './webhook.ts';
import type { CallResult, WebhookMetrics, WebhookType } from './webhook-metrics.ts';

type RecordParts = {
  attributes: AdmissionAttributes;
  type: WebhookType;
  metrics: WebhookMetrics;
  logger: Pick<Logger, 'warn'>;
};

/**
 * Prefixes of the keys of audit annotations: `mutation` reports whether a mutating webhook changed the object, `patch` contains its patch.
 */
const MUTATION = 'mutation.webhook.admission.k8s.io/';
const PATCH = 'patch.webhook.admission.k8s.io/';
/** Prefixes of the keys of audit annotations for webhook calls that failed open: the call failed, but the request was not rejected. */
const FAILED_OPEN = {
  admit: `failed-open.${MUTATION}`,
  validating: 'failed-open.validating.webhook.admission.k8s.io/',
};

/** The record of one webhook call. The call's duration is measured from the creation of the record. */
export class CallRecord {
  readonly #call: Call;
  readonly #parts: RecordParts;
  readonly #startMs = performance.now();

  constructor(call: Call, parts: RecordParts) {
    this.#call = call;
    this.#parts = parts;
  }

  /** Records that the webhook admitted the request. */
  admitted(): void {
    this.#parts.metrics.called(this.#result(200, false));
  }

  /** Annotates the audit event after a call to a mutating webhook, even if it failed. `mutated`: whether the webhook changed the object. */
  mutated(patch: readonly unknown[], mutated: boolean): void {
    const { annotate } = this.#parts.attributes;
    const { configuration, name: webhook } = this.#call.webhook;
    annotate?.(this.#key(MUTATION), JSON.stringify({ configuration, webhook, mutated }));
    if (patch.length > 0)
      annotate?.(
        this.#key(PATCH),
        JSON.stringify({ configuration, webhook, patch, patchType: 'JSONPatch' }),
        'Request',
      );
  }

  /**
   * Records that the webhook rejected the request or that the call failed. Throws the error for the client, unless the failure is ignored.
   */
  failed(error: unknown): void {
    const { attributes, metrics, logger, type } = this.#parts;
    attributes.signal?.throwIfAborted();
    const { name, configuration, ignoresFailures } = this.#call.webhook;
    if (error instanceof CallError) {
      const result = this.#result(error.code, !ignoresFailures);
      metrics.called(result);
      logger.warn(
        { webhook: name, configuration, error: error.message, ignored: ignoresFailures },
        'call a webhook failed',
      );
      if (!ignoresFailures) {
        metrics.rejected(result, 'calling_webhook_error');
        throw error.answer(name);
      }
      metrics.failedOpen(result);
      attributes.annotate?.(this.#key(FAILED_OPEN[type]), name);
      return;
    }
    const isRejection = error instanceof Rejection;
    const result = this.#result(isRejection ? error.answer.status.code : 0, true);
    metrics.called(result);
    metrics.rejected(result, isRejection ? 'no_error' : 'apiserver_internal_error');
    throw isRejection ? error.answer : error;
  }

  /** Returns the key of an annotation, such as `mutation.webhook.admission.k8s.io/round_0_index_2`. */
  #key(prefix: string): string {
    return `${prefix}round_${this.#call.round}_index_${this.#call.index}`;
  }

  #result(code: number, rejected: boolean): CallResult {
    const { attributes, type } = this.#parts;
    const seconds = (performance.now() - this.#startMs) / 1000;
    return { name: this.#call.webhook.name, type, operation: attributes.operation, seconds, rejected, code };
  }
}
