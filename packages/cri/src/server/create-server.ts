import {
  type HandledService,
  handleService,
  type ListeningServer,
  type ServeOptions,
  serveServices,
} from '@podwright/grpc';
import { packageOf, servedIn } from '../api-version.ts';
import { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';
import type { ImageHandlers, RuntimeHandlers } from './handlers.ts';

/** Options of `createCriServer`. */
export type CriServerOptions = ServeOptions & {
  handlers: { runtime: Partial<RuntimeHandlers>; image: Partial<ImageHandlers> };
  /** Additional services on the same socket, from `handleService`. */
  extraServices?: HandledService[];
};

/**
 * Listens, and serves RuntimeService and ImageService in v1 and v1alpha2, with reflection and health.
 *
 * Throws `already_exists` if a running process listens on the socket; a stale socket is replaced.
 */
export function createCriServer(options: CriServerOptions): Promise<ListeningServer> {
  const { handlers, extraServices = [] } = options;
  const cri = [handleService(RuntimeService, handlers.runtime), handleService(ImageService, handlers.image)];
  const versions = (['v1', 'v1alpha2'] as const).flatMap((version) =>
    cri.map((handled) => ({
      ...handled,
      definition: { ...servedIn(handled.service, version), packageName: packageOf(version) },
    })),
  );
  return serveServices([...versions, ...extraServices], options);
}
