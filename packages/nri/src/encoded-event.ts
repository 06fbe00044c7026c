import { toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ContainerSource, EventSubject, PodSource } from './event-source.ts';
import { ContainerSchema, PodSandboxSchema } from './gen/nri/v1alpha1/container_pb.js';
import {
  type Event,
  RunPodSandboxRequestSchema,
  StartContainerRequestSchema,
  StateChangeEventSchema,
} from './gen/nri/v1alpha1/services_pb.js';

/** An event's request, encoded once for all plugins. */
export type EncodedEvent = {
  /** The request of the event's RPC. */
  request: Uint8Array;
  /** Encodes the event for plugins without this RPC; absent for events that such plugins do not receive. */
  stateChange?(event: Event): Uint8Array;
};

/** The encoded pod of an event, and the container if it has one. */
export type EncodedSubject = { pod: Uint8Array; container?: Uint8Array };

// The requests of all events have the pod and the container in the same fields.
const POD_FIELD = RunPodSandboxRequestSchema.field.pod.number;
const CONTAINER_FIELD = StartContainerRequestSchema.field.container.number;

/** Combines encoded messages to a request. `others`: the request's other fields, encoded. */
export function encodeEvent({ pod, container }: EncodedSubject, others = new Uint8Array()): EncodedEvent {
  const { field } = StateChangeEventSchema;
  return {
    request: messageOf([
      [POD_FIELD, pod],
      [CONTAINER_FIELD, container],
    ])
      .raw(others)
      .finish(),
    stateChange: (event) =>
      messageOf([
        [field.pod.number, pod],
        [field.container.number, container],
      ])
        .tag(field.event.number, WireType.Varint)
        .int32(event)
        .finish(),
  };
}

export async function encodeSubject({ pod, container }: EventSubject): Promise<EncodedSubject> {
  return {
    pod: await encodePod(pod),
    ...(container === undefined ? {} : { container: await encodeContainer(container) }),
  };
}

async function encodePod(pod: PodSource): Promise<Uint8Array> {
  return (await pod.encoded?.()) ?? toBinary(PodSandboxSchema, await pod.message());
}

async function encodeContainer(container: ContainerSource): Promise<Uint8Array> {
  return (await container.encoded?.()) ?? toBinary(ContainerSchema, await container.message());
}

function messageOf(fields: readonly (readonly [number: number, message: Uint8Array | undefined])[]): BinaryWriter {
  const writer = new BinaryWriter();
  for (const [number, message] of fields)
    if (message !== undefined) writer.tag(number, WireType.LengthDelimited).bytes(message);
  return writer;
}
