import { type CompiledExpression, compileConditions, policyFunctions } from '@podwright/admission-policies';
import type { StoredObject } from '@podwright/api-machinery';
import { type ApiObject, type JsonObject, numberAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** A webhook in a stored webhook configuration. */
export type Webhook = {
  /** Identifies the webhook among all mutating or all validating ones. */
  readonly key: string;
  readonly name: string;
  /** Name of the configuration that contains the webhook. */
  readonly configuration: string;
  /** The webhook's entry in the configuration. */
  readonly config: JsonObject;
  readonly rules: readonly JsonObject[];
  readonly conditions: readonly CompiledExpression[];
  /** `failurePolicy: Ignore`: a failed call does not reject the request. */
  readonly ignoresFailures: boolean;
  /** `reinvocationPolicy: IfNeeded`: the webhook may be called twice for a request. */
  readonly isRepeatable: boolean;
  /** Whether the webhook must not be called for a dry run. */
  readonly hasSideEffects: boolean;
  readonly timeoutSeconds: number;
  /** The AdmissionReview versions that the webhook accepts, in order of preference. */
  readonly reviewVersions: readonly string[];
};

/** A call of one webhook for one request. */
export type Call = {
  readonly webhook: Webhook;
  /** The resource matched by a rule of the webhook. */
  readonly resource: Resource;
  /**
   * The webhook's number in the keys of audit annotations: its index among all mutating webhooks, or among the validating webhooks called
   * for the request.
   */
  readonly index: number;
  /** 0 for the first call of the webhook for the request, 1 for the second. */
  readonly round: number;
};

const DEFAULT_TIMEOUT_SECONDS = 10;

/** Reads webhooks from the stored configurations and caches their compiled match conditions. */
export class WebhookList {
  /** The webhooks of each configuration, by name. An entry is valid until the configuration's revision changes. */
  readonly #known = new Map<string, { revision: number; webhooks: readonly Webhook[] }>();

  /** Returns the webhooks of the configurations, sorted by configuration name. */
  of(configurations: readonly StoredObject[]): Webhook[] {
    const names = new Set(configurations.map(({ key }) => key));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    const sorted = configurations.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    return sorted.flatMap((stored) => {
      const known = this.#known.get(stored.key);
      if (known?.revision === stored.revision) return known.webhooks;
      const webhooks = webhooksOf(stored.decode());
      this.#known.set(stored.key, { revision: stored.revision, webhooks });
      return webhooks;
    });
  }
}

function webhooksOf(object: ApiObject): Webhook[] {
  const { name: configuration = '' } = object.metadata;
  const functions = policyFunctions();
  return objectsAt(object, 'webhooks').map((config, index) => {
    const name = textAt(config, 'name');
    return {
      key: `${configuration}/${name}/${index}`,
      name,
      configuration,
      config,
      rules: objectsAt(config, 'rules'),
      conditions: compileConditions(objectsAt(config, 'matchConditions'), functions),
      ignoresFailures: textAt(config, 'failurePolicy') === 'Ignore',
      isRepeatable: textAt(config, 'reinvocationPolicy') === 'IfNeeded',
      hasSideEffects: !['None', 'NoneOnDryRun'].includes(textAt(config, 'sideEffects')),
      timeoutSeconds: numberAt(config, 'timeoutSeconds') ?? DEFAULT_TIMEOUT_SECONDS,
      reviewVersions: textsAt(config, 'admissionReviewVersions'),
    };
  });
}
