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

/** Options for `createCriServer`. */
export type CriServerOptions = ServeOptions & {
  handlers: { runtime: Partial<RuntimeHandlers>; image: Partial<ImageHandlers> };
  /** Additional services on the same socket, each created by `handleService`. */
  extraServices?: HandledService[];
};

/**
 * Listens on a socket and serves the RuntimeService and ImageService in v1 and v1alpha2, together with reflection and health checks.
 *
 * Throws `already_exists` if a running process is listening on the socket. A stale socket is replaced.
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
