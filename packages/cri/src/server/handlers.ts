import type { ServiceHandlers } from '@podwright/grpc';
import type { ImageService, RuntimeService } from '../gen/runtime/v1/services_pb.js';

/** Handlers for the CRI's RuntimeService. */
export type RuntimeHandlers = ServiceHandlers<typeof RuntimeService>;

/** Handlers for the CRI's ImageService. */
export type ImageHandlers = ServiceHandlers<typeof ImageService>;
