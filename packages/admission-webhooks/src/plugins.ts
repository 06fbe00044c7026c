/** The admission plugins of webhooks. The code that calls webhooks is loaded when the first configuration is created, to save memory. */
import { checkedStrategy } from '@podwright/admission-policies/plugins';
import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { Undo } from '@podwright/base';
import type { ApiObject, Strategies } from '@podwright/kube-kinds';
import type { WebhookEngine, WebhookEngineParts } from './webhook-engine.ts';

const GROUP = 'admissionregistration.k8s.io';
const MUTATING = `mutatingwebhookconfigurations.${GROUP}`;
const VALIDATING = `validatingwebhookconfigurations.${GROUP}`;

type WithObject = AdmissionAttributes & { object: ApiObject };

/** Returns the plugins that call mutating and validating webhooks. `undo` closes the connections to webhooks. */
export function webhookPlugins(parts: WebhookEngineParts, undo: Undo) {
  let engine: WebhookEngine | undefined;
  undo.add('close the connections to webhooks', () => engine?.close());
  // webhooks decide about all kinds except the configurations of webhooks and policies: a wrong one must remain removable
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

/** The validation of webhook configurations, including that of their match conditions. */
export const webhookStrategies = (): Strategies =>
  Object.fromEntries(
    [MUTATING, VALIDATING].map((name) => [
      name,
      checkedStrategy(name, async () => (await import('./webhook-errors.ts')).webhookErrors),
    ]),
  );
