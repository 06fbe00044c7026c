/** What remains of the call of a webhook: metrics, audit annotations, and a line in the log. */
import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { Logger } from '@podwright/base';
import { CallError, Rejection } from './call-error.ts';
import type { Call } from './webhook.ts';
import type { Called, WebhookMetrics, WebhookType } from './webhook-metrics.ts';

type RecordParts = {
  attributes: AdmissionAttributes;
  type: WebhookType;
  metrics: WebhookMetrics;
  logger: Pick<Logger, 'warn'>;
};

const MUTATION = 'mutation.webhook.admission.k8s.io/';
const PATCH = 'patch.webhook.admission.k8s.io/';
const FAILED_OPEN = {
  admit: `failed-open.${MUTATION}`,
  validating: 'failed-open.validating.webhook.admission.k8s.io/',
};

export class CallRecord {
  readonly #call: Call;
  readonly #parts: RecordParts;
  readonly #startMs = performance.now();

  constructor(call: Call, parts: RecordParts) {
    this.#call = call;
    this.#parts = parts;
  }

  admitted(): void {
    this.#parts.metrics.called(this.#called(200, false));
  }

  /** A mutating webhook has answered, or failed. */
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

  /** Records why the call failed. Throws the response to the request, unless failures of the webhook are ignored. */
  failed(error: unknown): void {
    const { attributes, metrics, logger, type } = this.#parts;
    attributes.signal?.throwIfAborted();
    const { name, configuration, ignoresFailures } = this.#call.webhook;
    if (error instanceof CallError) {
      const called = this.#called(error.code, !ignoresFailures);
      metrics.called(called);
      logger.warn(
        { webhook: name, configuration, error: error.message, ignored: ignoresFailures },
        'call a webhook failed',
      );
      if (!ignoresFailures) {
        metrics.rejected(called, 'calling_webhook_error');
        throw error.answer(name);
      }
      metrics.failedOpen(called);
      attributes.annotate?.(this.#key(FAILED_OPEN[type]), name);
      return;
    }
    const isRejection = error instanceof Rejection;
    const called = this.#called(isRejection ? error.answer.status.code : 0, true);
    metrics.called(called);
    metrics.rejected(called, isRejection ? 'no_error' : 'apiserver_internal_error');
    throw isRejection ? error.answer : error;
  }

  #key(prefix: string): string {
    return `${prefix}round_${this.#call.round}_index_${this.#call.index}`;
  }

  #called(code: number, rejected: boolean): Called {
    const { attributes, type } = this.#parts;
    const seconds = (performance.now() - this.#startMs) / 1000;
    return { name: this.#call.webhook.name, type, operation: attributes.operation, seconds, rejected, code };
  }
}
