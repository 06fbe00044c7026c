import { create, toBinary } from '@bufbuild/protobuf';
import { ContainerSchema, PodSandboxSchema } from '@podwright/nri';
import type { OciSpec } from '@podwright/oci';
import type { ContainerConfig, ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { containerWithoutState, type Namespaces, podMessage, stateFields } from './messages.ts';

/**
 * Encodes the messages of sandboxes and containers. A container's message is mostly its OCI spec, so that part is kept from one event to
 * the next, and only the container's state is encoded for each.
 */
export class MessageEncoder {
  readonly #pods = new WeakMap<SandboxRecord, Uint8Array>();
  /** The encoded messages without state, by configuration: each change of a container's OCI spec comes with a new configuration. */
  readonly #containers = new WeakMap<ContainerConfig, Uint8Array>();

  /** `namespaces` returns the paths of the sandbox's namespaces; it is called only once for each record. */
  pod(record: SandboxRecord, namespaces: () => Namespaces): Uint8Array {
    const known = this.#pods.get(record);
    if (known !== undefined) return known;
    const encoded = toBinary(PodSandboxSchema, podMessage(record, namespaces()));
    this.#pods.set(record, encoded);
    return encoded;
  }

  /** `spec` returns the container's OCI spec; it is called only once for each configuration. `pid`: see `containerMessage`. */
  container(
    record: ContainerRecord,
    { spec, pid }: { spec: () => OciSpec | undefined; pid: number | undefined },
  ): Uint8Array {
    const state = toBinary(ContainerSchema, create(ContainerSchema, stateFields(record, pid)));
    return Buffer.concat([this.#withoutState(record, spec), state]);
  }

  #withoutState(record: ContainerRecord, spec: () => OciSpec | undefined): Uint8Array {
    const known = this.#containers.get(record.config);
    if (known !== undefined) return known;
    const encoded = toBinary(ContainerSchema, containerWithoutState(record, spec()));
    this.#containers.set(record.config, encoded);
    return encoded;
  }
}
