import type { HostAbilities } from '../host/host-abilities.ts';
import type { HandlerOptions } from '../options.ts';
import type { SandboxController } from '../sandbox/sandbox-controller.ts';
import { findingOf } from './runtime-handlers.ts';

/** Handlers, the default one among them, that can do what not every one can. */
export type HandlerFeatures = {
  recursiveReadOnlyHandlers: ReadonlySet<string>;
  userNamespaceHandlers: ReadonlySet<string>;
};

/** Which handlers can mount read-only recursively, and which can give pods users of their own, as this host was found. */
export function handlerFeatures(
  handlers: ReadonlyMap<string, HandlerOptions>,
  { ociRuntimes, idMapping }: Pick<HostAbilities, 'ociRuntimes' | 'idMapping'>,
  controllers: ReadonlyMap<string, Pick<SandboxController, 'makesUserNamespaces'>>,
): HandlerFeatures {
  const named = (able: (handler: HandlerOptions) => boolean | undefined) =>
    new Set([...handlers].flatMap(([name, handler]) => (able(handler) ? [name] : [])));
  return {
    recursiveReadOnlyHandlers: named((handler) => findingOf(handler, ociRuntimes)?.features.recursiveReadonlyMounts),
    userNamespaceHandlers: named(
      (handler) =>
        idMapping.works &&
        controllers.get(handler.sandbox)?.makesUserNamespaces &&
        findingOf(handler, ociRuntimes)?.features.userNamespaces,
    ),
  };
}
