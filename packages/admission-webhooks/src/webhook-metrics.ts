import { Counter, Histogram, type Registry } from '@podwright/base';

/** Bucket boundaries of upstream's histograms, in seconds. */
const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const CONDITION_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
/** HTTP status codes above this one are counted as this one, as in upstream. */
const MAX_CODE = 600;

/** The `type` label: `admit` for mutating webhooks, as in upstream. */
export type WebhookType = 'admit' | 'validating';

/** A completed webhook call. */
export type CallResult = {
  name: string;
  type: WebhookType;
  operation: string;
  seconds: number;
  /** Whether the call led to the request being rejected. */
  rejected: boolean;
  /** The HTTP status code of the rejection or failure; 200 if there is none, 0 if it is unknown. */
  code: number;
};

/** Webhook metrics with upstream's names and labels (apiserver, admission/metrics). */
export class WebhookMetrics {
  readonly #durations;
  readonly #requests;
  readonly #rejections;
  readonly #failedOpen;
  readonly #exclusions;
  readonly #conditionErrors;
  readonly #conditionSeconds;

  constructor(registry: Registry) {
    const registers = [registry];
    const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
      new Counter({ name: `apiserver_admission_${name}`, help, labelNames, registers });
    this.#durations = new Histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Time that a webhook takes, in seconds.',
      labelNames: ['name', 'type', 'operation', 'rejected'],
      buckets: SECONDS,
      registers,
    });
    this.#requests = counter('webhook_request_total', 'Calls of webhooks.', [
      'name',
      'type',
      'operation',
      'code',
      'rejected',
    ]);
    const rejectionLabels = ['name', 'type', 'operation', 'error_type', 'rejection_code'];
    this.#rejections = counter('webhook_rejection_count', 'Requests that webhooks have rejected.', rejectionLabels);
    const openHelp = 'Requests admitted although the call of a webhook has failed.';
    this.#failedOpen = counter('webhook_fail_open_count', openHelp, ['name', 'type']);
    const conditionLabels = ['name', 'kind', 'type', 'operation'];
    const excludedHelp = 'Requests that match conditions have excluded.';
    this.#exclusions = counter('match_condition_exclusions_total', excludedHelp, conditionLabels);
    const errorHelp = 'Match conditions that could not be evaluated.';
    this.#conditionErrors = counter('match_condition_evaluation_errors_total', errorHelp, conditionLabels);
    this.#conditionSeconds = new Histogram({
      name: 'apiserver_admission_match_condition_evaluation_seconds',
      help: 'Time to evaluate the match conditions of a webhook, in seconds.',
      labelNames: conditionLabels,
      buckets: CONDITION_SECONDS,
      registers,
    });
  }

  /** Counts a completed webhook call. */
  called({ name, type, operation, seconds, rejected, code }: CallResult): void {
    this.#durations.observe({ name, type, operation, rejected: String(rejected) }, seconds);
    this.#requests.inc({ name, type, operation, code: shownCode(code), rejected: String(rejected) });
  }

  /** Counts a call that rejected the request. `errorType` is `no_error` if the webhook itself rejected it. */
  rejected(
    { name, type, operation, code }: CallResult,
    errorType: 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error',
  ): void {
    this.#rejections.inc({ name, type, operation, error_type: errorType, rejection_code: shownCode(code) });
  }

  /** Counts a failed call that did not reject the request (`failurePolicy: Ignore`). */
  failedOpen({ name, type }: CallResult): void {
    this.#failedOpen.inc({ name, type });
  }

  /** Counts an evaluation of match conditions. `result`: whether all are true, or the errors. */
  conditions(
    { name, type, operation, seconds }: Pick<CallResult, 'name' | 'type' | 'operation' | 'seconds'>,
    result: boolean | readonly string[],
  ): void {
    const labels = { name, kind: 'webhook', type, operation };
    this.#conditionSeconds.observe(labels, seconds);
    if (result === false) this.#exclusions.inc(labels);
    if (typeof result !== 'boolean') this.#conditionErrors.inc(labels, result.length);
  }
}

const shownCode = (code: number): string => String(Math.min(code, MAX_CODE));
