import type { Admission, ObjectStore, Registries } from '@podwright/api-machinery';
import { STRATEGIES } from '@podwright/kube-kinds';
import { type Access, AUDIENCES } from './access.ts';
import type { NodeConnector } from './backends/node-connector.ts';
import type { CustomKinds } from './custom-kinds.ts';
import type { SubresourceHandler } from './server/server-parts.ts';
import { bindingHandler } from './subresources/binding-requests.ts';
import { evictionHandler } from './subresources/eviction-requests.ts';
import { logHandler } from './subresources/log-requests.ts';
import { proxyHandlers } from './subresources/proxy-requests.ts';
import { reviewHandlers } from './subresources/review-requests.ts';
import { scaleHandler } from './subresources/scale-requests.ts';
import { streamHandlers } from './subresources/stream-requests.ts';
import { tokenHandler } from './subresources/token-requests.ts';

export type HandlerParts = {
  registries: Registries;
  custom: CustomKinds;
  store: ObjectStore;
  access: Access;
  admission: Admission;
  /** Connects this server to the kubelets of nodes. */
  connector: NodeConnector;
  now: () => number;
};

/** Returns the handlers for reviews and for subresources with their own kinds. */
export function subresourceHandlers({ registries, custom, store, access, admission, connector, now }: HandlerParts) {
  const { authorizer, authenticator, rules, tokens } = access;
  const binding = bindingHandler(registries, admission);
  const scales = Object.entries(STRATEGIES).flatMap(([resource, { scale }]) =>
    scale === undefined ? [] : ([[`${resource}/scale`, scaleHandler(registries, () => scale)]] as const),
  );
  return new Map<string, SubresourceHandler>([
    ...scales,
    ['*/scale', scaleHandler(registries, (resource) => custom.rulesOf(resource)?.strategy.scale)],
    ['pods/binding', binding],
    ['bindings', binding],
    ['pods/eviction', evictionHandler({ registries, store, admission })],
    ['pods/log', logHandler(connector)],
    ...streamHandlers({ connector, admission, authorizer }),
    ...proxyHandlers({ connector, store, admission }),
    ['serviceaccounts/token', tokenHandler({ store, tokens, audiences: AUDIENCES, now }, admission)],
    ...reviewHandlers({ authorizer, rules, authenticator, audiences: AUDIENCES, now }),
  ]);
}
