/** Calls the configured webhooks for requests (apiserver, plugin/webhook/{mutating,validating}/dispatcher.go). */
import { isDeepStrictEqual } from 'node:util';
import {
  InvokedHooks,
  type MatchingParts,
  type PolicyAuthorizer,
  RequestMatcher,
  toStorageVersion,
  versionedObject,
} from '@podwright/admission-policies';
import { type AdmissionAttributes, badRequest, internalError } from '@podwright/api-machinery';
import { errorMessage, type Logger, PodwrightError, type Registry } from '@podwright/base';
import { type ApiObject, MASTERS } from '@podwright/kube-kinds';
import { jsonPatch, type Resource } from '@podwright/kube-schema';
import { rejectionAnswer, reviewOf, type Verdict, verdictOf } from './admission-review.ts';
import { Rejection } from './call-error.ts';
import { CallRecord } from './call-record.ts';
import { ReviewMemory } from './review-memory.ts';
import { type Call, type Webhook, WebhookList } from './webhook.ts';
import { WebhookClient } from './webhook-client.ts';
import { isConditionMet } from './webhook-conditions.ts';
import { WebhookMetrics, type WebhookType } from './webhook-metrics.ts';
import { MUTATING, VALIDATING } from './webhook-resources.ts';
import { webhookTarget } from './webhook-target.ts';

const MUTATING_PLUGIN = 'MutatingAdmissionWebhook';

export type WebhookEngineParts = MatchingParts & {
  authorizer: PolicyAuthorizer;
  /** Maps a user name to the caller (`callerOf`) whose limits apply. */
  callerOf: (username: string) => string;
  metrics: Registry;
  logger: Pick<Logger, 'warn'>;
};

/** Calls the stored webhooks and records the calls in metrics, the audit event and the log. */
export class WebhookEngine {
  readonly #parts: WebhookEngineParts;
  readonly #metrics: WebhookMetrics;
  readonly #client = new WebhookClient();
  readonly #memory = new ReviewMemory();
  readonly #mutating = new WebhookList();
  readonly #validating = new WebhookList();

  constructor(parts: WebhookEngineParts) {
    this.#parts = parts;
    this.#metrics = new WebhookMetrics(parts.metrics);
  }

  /** Closes the connections to webhooks. */
  close(): void {
    this.#client.close();
  }

  /**
   * Calls the mutating webhooks one after another, each with the object as changed by the previous ones. Returns the object, or `undefined`
   * for a deletion. Throws an `ApiError` if a webhook rejects the request or fails under `failurePolicy: Fail`.
   */
  async mutate<T extends ApiObject | undefined>(attributes: AdmissionAttributes & { object?: T }): Promise<T> {
    const webhooks = this.#mutating.of(this.#parts.store.list(MUTATING).objects);
    const hooks = InvokedHooks.of(attributes, MUTATING_PLUGIN);
    let object = attributes.object as T;
    for (const [index, webhook] of webhooks.entries()) {
      const current = { ...attributes, ...(object && { object }) } as AdmissionAttributes;
      const resource = await this.#matched(webhook, current, 'admit');
      if (resource === undefined || !hooks.isDue(webhook.key)) continue;
      const call = { webhook, resource, index, round: hooks.isSecond ? 1 : 0 };
      const changed = (await this.#callMutating(call, current)) as T;
      if (changed !== object) hooks.changed();
      hooks.invoked(webhook.key, webhook.isRepeatable);
      object = changed;
    }
    hooks.ended(object);
    return object;
  }

  /**
   * Calls the validating webhooks concurrently and waits for all of them. Throws the `ApiError` of the first one that rejects the request
   * or fails under `failurePolicy: Fail`.
   */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const webhooks = this.#validating.of(this.#parts.store.list(VALIDATING).objects);
    const due: Pick<Call, 'webhook' | 'resource'>[] = [];
    for (const webhook of webhooks) {
      const resource = await this.#matched(webhook, attributes, 'validating');
      if (resource !== undefined) due.push({ webhook, resource });
    }
    const errors: unknown[] = [];
    await Promise.all(
      due.map(({ webhook, resource }, index) =>
        this.#callValidating({ webhook, resource, index, round: 0 }, attributes).catch((error: unknown) =>
          errors.push(error),
        ),
      ),
    );
    if (errors.length > 0) throw errors[0];
  }

  /** Returns the resource matched by a rule of the webhook, or `undefined` if the webhook need not be called. Throws `ApiError`. */
  async #matched(webhook: Webhook, attributes: AdmissionAttributes, type: WebhookType): Promise<Resource | undefined> {
    // each webhook gets its own matcher, because an earlier mutating webhook may have changed the object that selectors match
    const { config, rules } = webhook;
    const resource = new RequestMatcher(attributes, this.#parts).matched({ criteria: config, rules });
    if (resource === undefined) return undefined;
    const conditions = { webhook, resource, type, metrics: this.#metrics };
    return (await isConditionMet(conditions, attributes, this.#parts)) ? resource : undefined;
  }

  /** Calls a mutating webhook. Returns the patched object, or the same object if nothing changed. */
  async #callMutating(call: Call, attributes: AdmissionAttributes): Promise<ApiObject | undefined> {
    const record = new CallRecord(call, {
      attributes,
      type: 'admit',
      metrics: this.#metrics,
      logger: this.#parts.logger,
    });
    const { object } = attributes;
    try {
      const { patch } = await this.#review(call, attributes, true);
      const changed = patch.length === 0 ? object : this.#patched(call, attributes, patch);
      const isChanged = !isDeepStrictEqual(changed, object);
      record.mutated(patch, isChanged);
      record.admitted();
      return isChanged ? changed : object;
    } catch (error) {
      record.mutated([], false);
      record.failed(error);
      return object;
    }
  }

  /** Calls a validating webhook. Throws `ApiError` if the request is rejected. */
  async #callValidating(call: Call, attributes: AdmissionAttributes): Promise<void> {
    const { logger } = this.#parts;
    const record = new CallRecord(call, { attributes, type: 'validating', metrics: this.#metrics, logger });
    try {
      await this.#review(call, attributes, false);
      record.admitted();
    } catch (error) {
      record.failed(error);
    }
  }

  /**
   * Sends a review to a webhook. Adds its warnings to the response and its audit annotations to the audit event. Throws `Rejection` if the
   * webhook rejects the request, `CallError` if the call fails, the signal's reason if the signal aborts, and `ApiError` for a dry run if
   * the webhook does not support that.
   */
  async #review({ webhook, resource }: Call, attributes: AdmissionAttributes, isMutating: boolean): Promise<Verdict> {
    const { name, timeoutSeconds, config, hasSideEffects } = webhook;
    const { dryRun, signal, annotate, warn } = attributes;
    if (dryRun && hasSideEffects)
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    const { store, schema } = this.#parts;
    const review = reviewOf(webhook, attributes, resource);
    const target = webhookTarget(config, store);
    const body = Buffer.from(JSON.stringify(review.body));
    using _ = this.#hold(attributes, body.length);
    const answer = await this.#client.post(target, body, { timeoutSeconds, signal });
    const verdict = verdictOf(answer, review, { isMutating, schema });
    for (const [key, value] of Object.entries(verdict.auditAnnotations)) annotate?.(`${name}/${key}`, value);
    for (const warning of verdict.warnings) warn(warning);
    if (!verdict.allowed) throw new Rejection(rejectionAnswer(name, verdict.result));
    return verdict;
  }

  /**
   * Counts the size of a review against its user. Throws 429 if the user has too many large reviews in flight. Administrators are exempt.
   */
  #hold(attributes: AdmissionAttributes, bytes: number): Disposable | undefined {
    const { user } = attributes;
    if (user.groups.includes(MASTERS)) return undefined;
    return this.#memory.hold(attributes, this.#parts.callerOf(user.username), bytes);
  }

  /** Applies a webhook's patch to the object and returns the patched object in the storage version. Throws `ApiError`. */
  #patched({ webhook, resource }: Call, attributes: AdmissionAttributes, patch: readonly unknown[]): ApiObject {
    const { object } = attributes;
    const { schema } = this.#parts;
    if (object === undefined)
      throw internalError(
        `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    try {
      const value = jsonPatch(versionedObject(attributes, resource, object), patch);
      return toStorageVersion(attributes, value, { schema, resource });
    } catch (error) {
      throw error instanceof PodwrightError ? internalError(errorMessage(error)) : error;
    }
  }
}
