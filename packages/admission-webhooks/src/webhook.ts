import { type CompiledExpression, compileConditions, policyFunctions } from '@podwright/admission-policies';
import type { StoredObject } from '@podwright/api-machinery';
import { type ApiObject, type JsonObject, numberAt, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** A webhook of a configuration. */
export type Webhook = {
  /** Identifies the webhook among all of its type. */
  readonly key: string;
  readonly name: string;
  readonly configuration: string;
  /** The webhook as it was configured. */
  readonly config: JsonObject;
  readonly rules: readonly JsonObject[];
  readonly conditions: readonly CompiledExpression[];
  readonly ignoresFailures: boolean;
  readonly isRepeatable: boolean;
  readonly hasSideEffects: boolean;
  readonly timeoutSeconds: number;
  readonly reviewVersions: readonly string[];
};

/** The call of a webhook for a request. */
export type Call = {
  readonly webhook: Webhook;
  /** The resource by which the request was matched. */
  readonly resource: Resource;
  /** Counts the webhooks that are called for the request, or all that are stored if they are mutating. */
  readonly index: number;
  /** 1 if the webhook is called again. */
  readonly round: number;
};

const DEFAULT_TIMEOUT_SECONDS = 10;

/** The webhooks of the stored configurations, in the order of the names of the configurations. */
export class WebhookList {
  /** The webhooks by the name of the configuration. An entry is valid while the configuration's revision is the same. */
  readonly #known = new Map<string, { revision: number; webhooks: readonly Webhook[] }>();

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
