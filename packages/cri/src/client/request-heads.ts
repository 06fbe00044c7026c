import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';

/** The header blocks of calls to one place ("Requests" of gRPC's PROTOCOL-HTTP2.md). */
export class RequestHeads {
  readonly #place: { scheme: string; authority: string };
  /** By the path of the method: all but what is of one call alone. */
  readonly #begun = new Map<string, Buffer>();

  constructor(place: { scheme: string; authority: string }) {
    this.#place = place;
  }

  of(path: string, metadata: readonly HeaderField[]): Buffer {
    const begun = this.#begun.get(path) ?? this.#begin(path);
    return Buffer.concat([begun, encodeLiterals(metadata)]);
  }

  #begin(path: string): Buffer {
    const begun = encodeLiterals([
      [':method', 'POST'],
      [':scheme', this.#place.scheme],
      [':path', path],
      [':authority', this.#place.authority],
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
      ['user-agent', 'podwright'],
    ]);
    this.#begun.set(path, begun);
    return begun;
  }
}
