/** The webhook admission plugins. To save memory, the code that calls webhooks is only loaded once a webhook configuration exists. */
import { checkedStrategy } from '@podwright/admission-policies/plugins';
import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { Undo } from '@podwright/base';
import type { ApiObject, Strategies } from '@podwright/kube-kinds';
import type { WebhookEngine, WebhookEngineParts } from './webhook-engine.ts';
import { MUTATING, VALIDATING } from './webhook-resources.ts';

const GROUP = 'admissionregistration.k8s.io';

type WithObject = AdmissionAttributes & { object: ApiObject };

/** Returns the plugins that call mutating and validating webhooks. Adds a step to `undo` that closes the connections to webhooks. */
export function webhookPlugins(parts: WebhookEngineParts, undo: Undo) {
  let engine: WebhookEngine | undefined;
  undo.add('close the connections to webhooks', () => engine?.close());
  // webhooks are never called for webhook configurations and policies, so that a broken one can always be deleted
  const applies = (configurations: string, { resource }: AdmissionAttributes): boolean =>
    resource.group !== GROUP && parts.store.list(configurations, { limit: 1 }).objects.length > 0;
  const opened = async (): Promise<WebhookEngine> => {
    const { WebhookEngine } = await import('./webhook-engine.ts');
    engine ??= new WebhookEngine(parts);
    return engine;
  };
  return {
    mutating: {
      name: 'MutatingAdmissionWebhook',
      mutate: async (attributes: WithObject): Promise<ApiObject> =>
        applies(MUTATING, attributes) ? (await opened()).mutate(attributes) : attributes.object,
      admitWithoutObject: async (attributes: AdmissionAttributes) => {
        if (applies(MUTATING, attributes)) await (await opened()).mutate(attributes);
      },
    },
    validating: {
      name: 'ValidatingAdmissionWebhook',
      validate: async (attributes: AdmissionAttributes) => {
        if (applies(VALIDATING, attributes)) await (await opened()).validate(attributes);
      },
    },
  };
}

/** Returns the strategies for webhook configurations, which also check that match conditions compile. */
export const webhookStrategies = (): Strategies =>
  Object.fromEntries(
    [MUTATING, VALIDATING].map((name) => [
      name,
      checkedStrategy(name, async () => (await import('./webhook-errors.ts')).webhookErrors),
    ]),
  );
