import type { HostAbilities } from '../host/host-abilities.ts';
import type { HandlerOptions } from '../options.ts';
import { findingOf } from './runtime-handlers.ts';

/** Handlers, the default one among them, that can do what not every one can. */
export type HandlerFeatures = {
  recursiveReadOnlyHandlers: ReadonlySet<string>;
  userNamespaceHandlers: ReadonlySet<string>;
};

/** Sandbox controllers that make user namespaces. */
const MAKERS = ['pinned', 'pause'];

/** Which handlers can mount read-only recursively, and which can give pods users of their own, as this machine was found. */
export function handlerFeatures(
  handlers: ReadonlyMap<string, HandlerOptions>,
  { ociRuntimes, idMapping }: Pick<HostAbilities, 'ociRuntimes' | 'idMapping'>,
  snapshotter: { name: string },
): HandlerFeatures {
  const canMap = snapshotter.name === 'overlayfs' ? idMapping.overlay : idMapping.bind;
  const named = (able: (handler: HandlerOptions) => boolean | undefined) =>
    new Set([...handlers].flatMap(([name, handler]) => (able(handler) ? [name] : [])));
  return {
    recursiveReadOnlyHandlers: named((handler) => findingOf(handler, ociRuntimes)?.features.recursiveReadonlyMounts),
    userNamespaceHandlers: named(
      (handler) =>
        canMap && MAKERS.includes(handler.sandbox) && findingOf(handler, ociRuntimes)?.features.userNamespaces,
    ),
  };
}
